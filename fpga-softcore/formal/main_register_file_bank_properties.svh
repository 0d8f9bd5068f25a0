// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `main_register_file_bank`, which includes this file at its end where FORMAL is
// defined.
//
// The solver chooses a row and a lane; what is proved of them holds for all. E1.. is what the
// requester keeps, A1.. what is proved, C1.. what has to be reachable.
// docs/hw/main_register_file.md says what was proved at which size.

  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1;

  (* anyconst *) logic [RowWidth-1:0]  f_row;
  (* anyconst *) logic [LaneWidth-1:0] f_lane;

  always_comb assume (32'(f_lane) < Lanes && 32'(f_row) < Rows);

  // E1. Rows are those that there are.
  always_comb begin
    if (rd_valid_i) assume (32'(rd_row_i) < Rows);
    if (wr_valid_i) assume (32'(wr_row_i) < Rows);
  end

  logic        f_ran     = 1'b0;  // there was a clock before
  logic        f_written = 1'b0;  // the lane of the row has a value
  logic [31:0] f_value;           // the one that was written last
  logic        f_read    = 1'b0;  // the last read was of the row, when its lane had a value
  logic [31:0] f_expect;

  always_ff @(posedge clk_i) begin
    f_ran <= 1'b1;
    if (wr_valid_i && wr_row_i == f_row && wr_lanes_i[f_lane]) begin
      f_written <= 1'b1;
      f_value   <= wr_data_i[32*f_lane +: 32];
    end
    if (rd_valid_i) begin
      f_read   <= f_written && rd_row_i == f_row && !(wr_valid_i && wr_row_i == f_row);
      f_expect <= f_value;
    end
  end

  always_ff @(posedge clk_i) begin
    // A1. A lane of a row holds what was written to it last: no other write changes it.
    if (f_written) a01_value: assert (rows_q[f_row][32*f_lane +: 32] == f_value);
    // A2. A read gives that value in the next clock, unless its row is written in its own.
    if (f_read) a02_read: assert (rd_data_o[32*f_lane +: 32] == f_expect);
    // A3. What was read stands until the next read.
    if (f_ran && !$past(rd_valid_i)) a03_stands: assert ($stable(rd_data_o));
    // C1. A value is read, after a write of another lane of its row where there is one.
    c01_read: cover (f_read && $past(wr_valid_i && wr_row_i != f_row));
    if (Lanes > 1)
      c01_beside: cover (f_read && f_ran && $past(f_written && wr_valid_i && wr_row_i == f_row
                                                  && !wr_lanes_i[f_lane], 2));
    // C2. A value is replaced, and stands while others are written.
    c02_replaced: cover (f_written && wr_valid_i && wr_row_i == f_row && wr_lanes_i[f_lane]
                         && wr_data_i[32*f_lane +: 32] != f_value);
    c02_stands: cover (f_read && !rd_valid_i && f_value != f_expect);
  end
