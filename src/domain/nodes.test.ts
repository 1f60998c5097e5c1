import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignSources } from './nodes.ts'

const input = (owner: string, pollers: string, holders: string) => ({
  owner,
  pollers: [...pollers],
  sources: [...holders].map((holder, index) => ({ source: `s${index}`, holder: holder === '-' ? null : holder })),
})

test.each([
  ['assigns everything to a single process', 'a', 'a', '---', ['s0', 's1', 's2'], []],
  ['splits sources between two processes', 'a', 'ab', '----', ['s0', 's1'], []],
  ['assigns a remaining source to any process', 'b', 'ab', 'a-', ['s1'], []],
  ['releases sources for a new process', 'a', 'ab', 'aaaa', [], ['s2', 's3']],
  ['does not release a single source', 'a', 'ab', 'a', [], []],
  ['does not move sources that are spread evenly', 'a', 'abc', 'abca', [], []],
  ['releases from the process with the most sources first', 'a', 'abc', 'aaabbb', [], ['s2']],
  ['releases from the next process after that', 'b', 'abc', 'aaabbb', [], ['s5']],
  ['releases nothing if enough sources are free', 'a', 'ab', 'aa--', [], []],
  ['acquires no more than its share while another process has too few', 'a', 'ab', 'a--', [], []],
  ['does not acquire sources of a stopped process before they are free', 'a', 'ab', 'abcc', [], []],
] as const)('%s', (_, owner, pollers, holders, acquire, release) => {
  expect(assignSources(input(owner, pollers, holders))).toEqual({ acquire, release })
})

test('reaches an even and stable distribution from any start', () => {
  const arrangement = fc.record({
    pollers: fc.integer({ min: 1, max: 6 }),
    holders: fc.array(fc.integer({ min: -1, max: 5 }), { maxLength: 40 }),
    first: fc.integer({ min: 0, max: 5 }),
  })
  fc.assert(
    fc.property(arrangement, ({ pollers: count, holders, first }) => {
      const pollers = Array.from({ length: count }, (_, index) => `p${index}`)
      let sources = holders.map((holder, index) => ({ source: `s${index}`, holder: pollers[holder] ?? null }))
      const assign = (owner: string) => {
        const { acquire, release } = assignSources({ owner, pollers, sources })
        sources = sources.map(({ source, holder }) => {
          if (acquire.includes(source)) return { source, holder: owner }
          return { source, holder: release.includes(source) ? null : holder }
        })
        return acquire.length + release.length
      }
      for (let round = 0; round < 60; round += 1) assign(pollers[(first + round) % count] ?? '')
      expect(pollers.map(assign)).toEqual(pollers.map(() => 0))
      const counts = pollers.map((poller) => sources.filter(({ holder }) => holder === poller).length)
      expect(sources.every(({ holder }) => holder !== null)).toBe(true)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }),
  )
})
