/** Whether it is a name of the program's own, `h` or `net[0].w`; not a piece of its code. */
export function isOwnName(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*|\[[^\]]*\])*$/u.test(name)
}
