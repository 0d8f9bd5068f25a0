// The explorer of the page: hands a choice to the compiled core, and shows its answer.
(() => {
  "use strict";
  const at = (id) => document.getElementById(`explorer-${id}`);

  // Bytes of an inlined block.
  const unpacked = async (id) => {
    const packed = Uint8Array.from(atob(at(id).textContent), (one) => one.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  const inputs = new Map();
  const input = (workload) => {
    if (!inputs.has(workload)) inputs.set(workload, unpacked(`input-${workload}`));
    return inputs.get(workload);
  };

  // What the core answers to bytes of a catalogue, an input and a choice: a map from the first
  // fields of its lines to the last.
  const asked = (core, parts) => {
    let place = core.input();
    const memory = new Uint8Array(core.memory.buffer, place, core.capacity());
    if (parts.reduce((sum, part) => sum + part.length, 0) > memory.length) {
      throw new Error("the data is too large");
    }
    place = 0;
    for (const part of parts) {
      memory.set(part, place);
      place += part.length;
    }
    const good = core.explore(...parts.map((part) => part.length));
    const bytes = new Uint8Array(core.memory.buffer, core.output(), core.output_length());
    const text = new TextDecoder().decode(bytes);
    if (!good) throw new Error(text);
    const answer = new Map();
    for (const line of text.trimEnd().split("\n")) {
      const fields = line.split("\t");
      answer.set(fields.slice(0, -1).join(" "), fields.at(-1));
    }
    return answer;
  };

  const levels = document.querySelector("[data-levels]");
  const controls = [...document.querySelectorAll("[data-levels], [data-choice]")];

  // Switches off what does not matter, and shows where sliders stand.
  const adjust = () => {
    for (const control of controls) {
      if (control !== levels) {
        control.disabled = ((Number(control.dataset.choice) >> Number(levels.value)) & 1) === 0;
      }
      if (control.dataset.shown) {
        const shown = control.dataset.shown.split("|")[Number(control.value)];
        control.setAttribute("aria-valuetext", shown);
        at(`${control.id.replace("explorer-", "")}-shown`).textContent = shown;
      }
    }
  };

  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const nanojoules = (femtojoules) => {
    const tenths = (BigInt(femtojoules) + 50000n) / 100000n;
    return `${grouped(tenths / 10n)}.${tenths % 10n}`;
  };

  // What a part spends: its banks, its wires, both; none where the energy is not known.
  const spent = (answer, level) => {
    const part = (what) => answer.get(`energy ${level}${what}`);
    if (part("_bank") === undefined) return null;
    const [bank, wire] = [BigInt(part("_bank")), BigInt(part("_wire"))];
    return [bank, wire, bank + wire];
  };

  const table = (answer, flat) => {
    const rows = [...document.querySelectorAll("[data-level]")];
    const sums = [0n, 0n, 0n];
    for (const row of rows) {
      const level = row.dataset.level;
      const known = answer.has("energy total");
      const energy = level === "total" ? (known ? sums : null) : spent(answer, level);
      const cells = row.querySelectorAll("td");
      for (const [place, what] of ["reads", "writes"].entries()) {
        const count = answer.get(`counter ${level}_${what}`);
        cells[place].textContent = count === undefined ? "" : grouped(count);
      }
      for (const place of [0, 1, 2]) {
        cells[2 + place].textContent = energy ? nanojoules(energy[place]) : "\u2013";
        if (energy && level !== "total") sums[place] += energy[place];
      }
      const share = energy && flat ? (Number(energy[2]) / flat) * 100 : null;
      cells[5].textContent = share === null ? "\u2013" : share.toFixed(2);
    }
    return rows.filter((row) => row.dataset.level !== "total");
  };

  // The parts of the energy one after the other, on a scale on which the flat register file ends.
  const bar = (answer, rows, flat) => {
    const svg = at("bar");
    const drawn = (name, attributes) => {
      const one = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
      svg.append(one);
    };
    svg.replaceChildren();
    svg.style.display = flat ? "" : "none";
    if (!flat) return;
    const total = Number(answer.get("energy total"));
    const scale = 640 / Math.max(flat, total);
    let left = 0;
    const told = [];
    for (const [place, row] of rows.entries()) {
      const energy = Number(spent(answer, row.dataset.level)[2]);
      const width = energy * scale;
      if (width > 0) {
        const height = { y: 4, height: 22, style: "stroke:none" };
        drawn("rect", { class: `c${place}`, x: left, width, ...height });
        told.push(`${row.querySelector("th").textContent} ${((energy / flat) * 100).toFixed(1)}`);
      }
      left += width;
    }
    const end = flat * scale;
    drawn("rect", { class: "mark", x: end - 2, y: 0, width: 2, height: 30 });
    svg.setAttribute("aria-label", `Energy in percent of flat: ${told.join(", ")}`);
  };

  const all = (answer) => {
    const body = at("all");
    body.replaceChildren();
    for (const [key, value] of answer) {
      const [kind, name] = key.split(" ");
      if (kind !== "counter" && kind !== "energy") continue;
      const row = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = kind === "energy" ? `${name}, fJ` : name;
      head.dataset.name = key;
      row.append(head);
      const cell = row.insertCell();
      cell.className = "number";
      cell.textContent = value;
    }
  };

  const show = (answer) => {
    at("command").textContent = answer.get("command");
    at("digest").textContent = answer.get("digest") ?? "";
    at("numbers").hidden = answer.has("refused");
    if (answer.has("refused")) {
      const hint = answer.has("hint") ? ` Hint: ${answer.get("hint")}` : "";
      at("result").textContent = `The command line refuses it: ${answer.get("refused")}.${hint}`;
      return;
    }
    const relative = answer.get("relative");
    const total = answer.get("energy total");
    const flat = total === undefined ? 0 : Number(answer.get("flat") ?? 0);
    if (total === undefined) {
      at("result").textContent = `The energy is not known: ${answer.get("unavailable")}.`;
    } else {
      const share = relative ? `, ${Number(relative).toFixed(2)} percent of flat` : "";
      at("result").textContent = `Energy: ${nanojoules(total)} nJ${share}.`;
    }
    at("result").dataset.relative = relative ?? "";
    bar(answer, table(answer, flat), flat);
    all(answer);
  };

  let turn = 0;
  const explore = async (core, catalogue) => {
    turn += 1;
    const own = turn;
    adjust();
    at("answer").dataset.busy = "yes";
    const choice = Uint8Array.from(controls, (control) => Number(control.value));
    const workload = at("workload").value;
    const bytes = await input(workload);
    // Another choice came meanwhile.
    if (own !== turn) return;
    show(asked(core, [catalogue, bytes, choice]));
    at("answer").dataset.busy = "";
  };

  const begin = async () => {
    const { instance } = await WebAssembly.instantiate(await unpacked("module"));
    const catalogue = await unpacked("catalogue");
    const again = () => {
      explore(instance.exports, catalogue).catch((error) => {
        at("result").textContent = `The explorer has failed: ${error.message}`;
      });
    };
    const form = at("form");
    form.addEventListener("input", again);
    form.addEventListener("submit", (event) => event.preventDefault());
    at("absent").hidden = true;
    form.hidden = false;
    at("answer").hidden = false;
    again();
  };

  begin().catch((error) => {
    at("absent").textContent = `The explorer cannot run in this browser: ${error.message}`;
  });
})();
