/** Other spellings of the address of a route. */

export interface Spellings {
  /** Request targets that select the same route. */
  readonly same: readonly string[]
  /** Request targets that select no route. */
  readonly unknown: readonly string[]
}

/** `path` begins with the mount prefix, and `origin` is that of the service. */
export function spellingsOf(path: string, origin: string): Spellings {
  const segments = path.split('/').slice(1)
  return {
    same: [
      path.endsWith('/') ? path.slice(0, -1) || '/' : `${path}/`,
      `${path}?`,
      `${origin}${path}`,
      `/${encodeFirst(segments.join('/'))}`,
      `/${segments.map((segment) => segment.replace(/./g, encodeFirst)).join('/')}`,
    ],
    unknown: [`/${path}`, `${path}//`, path.replace(/.\//, '$&/'), path.toUpperCase()].filter(
      (other) => other !== path,
    ),
  }
}

function encodeFirst(text: string): string {
  return text.replace(/^./, (character) => `%${character.charCodeAt(0).toString(16)}`)
}
