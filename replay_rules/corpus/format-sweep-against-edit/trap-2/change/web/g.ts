export const f=(a:number)=>a+2
