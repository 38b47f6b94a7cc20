const a = 'x'
const b = 'y'
