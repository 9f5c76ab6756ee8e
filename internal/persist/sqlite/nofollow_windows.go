package sqlite

// noFollow has no equivalent on Windows, where creating a link requires special rights.
const noFollow = 0
