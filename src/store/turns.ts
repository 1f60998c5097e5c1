/** Lets at most so many through at once; the others wait in the order they came. */
export interface Turns {
  take(): Promise<void>
  give(): void
}

export function createTurns(places: number): Turns {
  let free = places
  const waiting: (() => void)[] = []
  return {
    async take() {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    give() {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    },
  }
}
