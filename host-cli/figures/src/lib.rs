//! Figures: [`reproduce`] remakes the papers' figures and tables, [`report_page`] makes one page of
//! reports, and [`plot`] draws a table's columns.

#![forbid(unsafe_code)]

pub mod plot;
pub mod report_page;
pub mod reproduce;
