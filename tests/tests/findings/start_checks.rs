//! D3, D10 to D12 and E: what the start checks, `doctor` checks.
