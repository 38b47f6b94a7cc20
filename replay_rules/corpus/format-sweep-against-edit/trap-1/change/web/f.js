const a = 'z'
const b = 'y'
