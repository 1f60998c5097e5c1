import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addSample, type Dropouts, endDropout, findUnannounced, settleDropouts } from './dropouts.ts'

type Letter = 'w' | 'g' | 'o'

/**
 * Plays samples at 100 ms intervals: weak, good, or transmitter off. The transmitter was on before. Returns the
 * recorded dropouts as [begin, end, lowest].
 */
function play(letters: string): (readonly [number, number | null, number])[] {
  const dropouts: Dropouts = []
  const recorded: (readonly [number, number | null, number])[] = []
  const settle = (now: number) => {
    for (const { beganAt, endedAt, lowest } of settleDropouts(dropouts, now)) recorded.push([beganAt, endedAt, lowest])
  }
  for (const [index, letter] of [...letters].entries()) {
    const at = index * 100
    settle(at)
    addSample(dropouts, {
      at,
      isOn: letter !== 'o',
      isSwitchedOn: letters[index - 1] === 'o',
      isWeak: letter === 'w',
      level: letter === 'w' ? -90 - (index % 7) : -50,
    })
  }
  settle(letters.length * 100 + 10_000)
  return recorded
}

describe('a dropout', () => {
  // Conformance: C-12.44.
  test('begins with the first weak sample and ends with the first that is not', () => {
    expect(play(`ggww${'g'.repeat(30)}`)).toEqual([[200, 400, -93]])
  })

  test('continues if the next is less than 1 s later, and not at 1 s', () => {
    expect(play(`w${'g'.repeat(9)}w${'g'.repeat(30)}`)).toEqual([[0, 1100, -93]])
    expect(play(`w${'g'.repeat(10)}w${'g'.repeat(30)}`)).toEqual([
      [0, 100, -90],
      [1100, 1200, -94],
    ])
    expect(play(`w${'g'.repeat(11)}w${'g'.repeat(30)}`)).toEqual([
      [0, 100, -90],
      [1200, 1300, -95],
    ])
  })

  test('is not recorded if the transmitter switches off within 2 s of the first weak sample', () => {
    expect(play(`${'w'.repeat(20)}o`)).toEqual([])
    expect(play(`${'w'.repeat(21)}o`)).toEqual([[0, 2100, -96]])
    expect(play(`w${'g'.repeat(12)}o`)).toEqual([])
  })

  test('is not recorded if it began with the transmitter and ends within 1 s', () => {
    expect(play(`oo${'w'.repeat(9)}${'g'.repeat(30)}`)).toEqual([])
    expect(play(`oo${'w'.repeat(10)}${'g'.repeat(30)}`)).toEqual([[200, 1200, -96]])
    expect(play(`oogw${'g'.repeat(30)}`)).toEqual([[300, 400, -93]])
  })

  test('ends with the transmitter', () => {
    expect(play(`${'w'.repeat(30)}${'o'.repeat(9)}`)).toEqual([[0, 3000, -96]])
  })

  test('that is older than 2 s is recorded although the next one is not', () => {
    expect(play(`w${'g'.repeat(14)}w${'g'.repeat(9)}o`)).toEqual([[0, 100, -90]])
  })

  test('is certain after 2 s, while it continues', () => {
    const dropouts: Dropouts = []
    addSample(dropouts, { at: 0, isOn: true, isSwitchedOn: false, isWeak: true, level: -90 })
    expect(findUnannounced(dropouts, 2000)).toBeUndefined()
    expect(findUnannounced(dropouts, 2001)).toBe(dropouts[0])
  })

  test('that was announced is ended by the transmitter, too', () => {
    const dropouts: Dropouts = [
      { beganAt: 0, endedAt: null, lowest: -90, isAnnounced: true, beganWithTransmitter: false },
    ]
    addSample(dropouts, { at: 100, isOn: false, isSwitchedOn: false, isWeak: false, level: Number.NaN })
    expect(settleDropouts(dropouts, 1100)).toMatchObject([{ beganAt: 0, endedAt: 100 }])
    expect(dropouts).toEqual([])
  })

  test('ends when nothing is received any more, and once only', () => {
    const dropouts: Dropouts = []
    addSample(dropouts, { at: 0, isOn: true, isSwitchedOn: false, isWeak: true, level: -90 })
    endDropout(dropouts, 1000)
    endDropout(dropouts, 30_000)
    expect(settleDropouts(dropouts, 2001)).toMatchObject([{ beganAt: 0, endedAt: 1000 }])
  })
})

/** The rule, applied to all samples at once. */
function expectedDropouts(letters: readonly Letter[]) {
  const stretches: { begin: number; end: number }[] = []
  for (let index = 0; index < letters.length; index += 1) {
    if (letters[index] !== 'w') continue
    let end = index
    while (end < letters.length && letters[end] === 'w') end += 1
    const last = stretches.at(-1)
    if (last !== undefined && index - last.end < 10 && !isSwitchOff(letters.slice(0, index), last.begin)) last.end = end
    else stretches.push({ begin: index, end })
    index = end
  }
  const isSwitchOn = ({ begin, end }: { begin: number; end: number }) => letters[begin - 1] === 'o' && end - begin < 10
  return stretches
    .filter((stretch) => !isSwitchOff(letters, stretch.begin) && !isSwitchOn(stretch))
    .map(({ begin, end }) => [begin * 100, end * 100])
}

function isSwitchOff(letters: readonly Letter[], begin: number): boolean {
  return letters.slice(begin, begin + 21).includes('o')
}

test('dropouts of any samples follow the rule', () => {
  const stretch = fc.tuple(fc.constantFrom<Letter>('w', 'g', 'o'), fc.integer({ min: 1, max: 25 }))
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 20 }), (parts) => {
      const letters = [
        ...parts.flatMap(([letter, count]) => Array.from({ length: count }, () => letter)),
        'g',
      ] as Letter[]
      expect(play(letters.join('')).map(([begin, end]) => [begin, end])).toEqual(expectedDropouts(letters))
    }),
    { numRuns: 500 },
  )
})
