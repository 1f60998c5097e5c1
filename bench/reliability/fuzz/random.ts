/** A seeded random generator: the same seed gives the same values. */

export interface Random {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** Returns an integer from `min` to `max`, both inclusive. */
  integer(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly T[]): T
  bytes(length: number): Buffer
  text(maxLength: number): string
  /** Returns any JSON value, at most `depth` levels deep. */
  json(depth: number): unknown
}

/** Mulberry32, a generator with 32 bits of state. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const pick = <T>(choices: readonly T[]) => choices[integer(0, choices.length - 1)] as T
  const random: Random = {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick,
    bytes: (length) => Buffer.from(Array.from({ length }, () => integer(0, 255))),
    text: (maxLength) => Array.from({ length: integer(0, maxLength) }, () => pick(characters)).join(''),
    json(depth) {
      const kind = depth === 0 ? integer(0, 4) : integer(0, 6)
      if (kind === 0) return null
      if (kind === 1) return next() < 0.5
      if (kind === 2) return pick(numbers)
      if (kind === 3) return random.text(12)
      if (kind === 4) return pick(oddTexts)
      if (kind === 5) return Array.from({ length: integer(0, 4) }, () => random.json(depth - 1))
      return Object.fromEntries(Array.from({ length: integer(0, 4) }, () => [pick(keys), random.json(depth - 1)]))
    },
  }
  return random
}

const characters = [...'abcXYZ0189 -_./%&=?#+<>"\'{}[]\\:;,äß李🎤', '\u0000', '\u001b', '\n', '\r', '\u202e', '\ud800']
const numbers = [0, -0, 1, -1, 1.5, 255, 65_535, 65_536, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 5e-324]
const keys = [
  'id',
  'name',
  'type',
  'title',
  'slots',
  '__proto__',
  'constructor',
  'toString',
  'length',
  '',
  'a.b',
  '$ref',
]
const oddTexts = [
  '',
  ' ',
  'null',
  'true',
  '__proto__',
  '../../etc/passwd',
  "' or 1=1 --",
  '<script>alert(1)</script>',
  '\u0000',
  '\ud800',
  'x'.repeat(300),
  '127.0.0.1',
  '2030-13-45T99:99:99Z',
]
