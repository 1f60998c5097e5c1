import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignSources } from './source-assignment.ts'

const standing = (owner: string, pollers: string, holders: string) => ({
  owner,
  pollers: [...pollers],
  sources: [...holders].map((holder, at) => ({ source: `s${at}`, holder: holder === '-' ? null : holder })),
})

test.each([
  ['whoever is alone takes everything', 'a', 'a', '---', ['s0', 's1', 's2'], []],
  ['two share', 'a', 'ab', '----', ['s0', 's1'], []],
  ['the odd one goes to whoever comes first', 'b', 'ab', 'a-', ['s1'], []],
  ['a newcomer is given what it lacks', 'a', 'ab', 'aaaa', [], ['s2', 's3']],
  ['one source is nobody’s to give', 'a', 'ab', 'a', [], []],
  ['three of four processes keep one each', 'a', 'abc', 'abca', [], []],
  ['the richest gives first', 'a', 'abc', 'aaabbb', [], ['s2']],
  ['the next richest gives next', 'b', 'abc', 'aaabbb', [], ['s5']],
  ['what is free already need not be given', 'a', 'ab', 'aa--', [], []],
  ['nobody takes more while another lacks', 'a', 'ab', 'a--', [], []],
  ['a dead process’s sources are shared by the others', 'a', 'ab', 'abcc', [], []],
] as const)('%s', (_, owner, pollers, holders, takes, gives) => {
  expect(assignSources(standing(owner, pollers, holders))).toEqual({ takes, gives })
})

test('whatever the start, the sources end evenly spread, and then nothing changes hands', () => {
  const arrangement = fc.record({
    pollers: fc.integer({ min: 1, max: 6 }),
    holders: fc.array(fc.integer({ min: -1, max: 5 }), { maxLength: 40 }),
    first: fc.integer({ min: 0, max: 5 }),
  })
  fc.assert(
    fc.property(arrangement, ({ pollers: count, holders, first }) => {
      const pollers = Array.from({ length: count }, (_, at) => `p${at}`)
      let sources = holders.map((holder, at) => ({ source: `s${at}`, holder: pollers[holder] ?? null }))
      const turn = (owner: string) => {
        const { acquire, release } = assignSources({ owner, pollers, sources })
        sources = sources.map(({ source, holder }) => {
          if (acquire.includes(source)) return { source, holder: owner }
          return { source, holder: release.includes(source) ? null : holder }
        })
        return acquire.length + release.length
      }
      for (let round = 0; round < 60; round += 1) turn(pollers[(first + round) % count] ?? '')
      expect(pollers.map(turn)).toEqual(pollers.map(() => 0))
      const counts = pollers.map((poller) => sources.filter(({ holder }) => holder === poller).length)
      expect(sources.every(({ holder }) => holder !== null)).toBe(true)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }),
  )
})
