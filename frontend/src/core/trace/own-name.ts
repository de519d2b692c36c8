/** Whether it is a name of the program's own, `h` or `net[0].w`, or several, `q, k`; not a piece of its code. */
export function isOwnName(name: string): boolean {
  return /^([\p{L}_][\p{L}\w]*(\[[^\]]*\])*(\.|, |$))+$/u.test(name)
}
