import { describe, expect, it } from 'vitest'
import { SweepError } from './sweep.ts'
import { SweepRows } from './sweep-rows.ts'

const at = Date.parse('2026-11-22T20:00:00Z')

function sweepsOf(lines: readonly string[]) {
  const rows = new SweepRows(() => at)
  const sweeps = lines.flatMap((line) => rows.add(line) ?? [])
  const last = rows.end()
  return { rows, sweeps: last === null ? sweeps : [...sweeps, last] }
}

const row = (time: string, lowMhz: number, highMhz: number, levels: readonly number[]) =>
  `2026-11-22, ${time}, ${lowMhz * 1e6}, ${highMhz * 1e6}, 1000000, 10, ${levels.join(', ')}`

describe('rows of sweeps', () => {
  // Conformance: C-23.25.
  it('with one time are one sweep of rtl_power, whose last level of a row may be that of the next', () => {
    const { sweeps } = sweepsOf([
      row('19:30:05', 470, 472, [-71, -72, -60]),
      row('19:30:05', 472, 474, [-73, -74, -74]),
      row('19:30:15', 470, 472, [-81, -82]),
    ])
    expect(sweeps.map(({ fromMhz, stepMhz, tenthsDbm }) => [fromMhz, stepMhz, ...tenthsDbm])).toEqual([
      [470, 1, -710, -720, -600, -740, -740],
      [470, 1, -810, -820],
    ])
    expect(sweeps.map(({ startedAt }) => startedAt)).toEqual(
      [5, 15].map((second) => new Date(2026, 10, 22, 19, 30, second).getTime()),
    )
  })

  // Conformance: C-23.25.
  it('of hackrf_sweep may be in any order, until a frequency is repeated', () => {
    const { sweeps } = sweepsOf([
      row('19:30:05.100000', 2400, 2402, [-70, -71]),
      row('19:30:05.100000', 2404, 2406, [-74, -75]),
      row('19:30:05.200000', 2402, 2404, [-72, -73]),
      row('19:30:05.300000', 2400, 2402, [-60, -61]),
    ])
    expect(sweeps.map(({ tenthsDbm }) => [...tenthsDbm])).toEqual([
      [-700, -710, -720, -730, -740, -750],
      [-600, -610],
    ])
  })

  // Conformance: C-23.26.
  it.each([
    [
      'go backwards',
      [row('19:30:05', 472, 470, [-1, -2])],
      'Line 1: The row goes backwards, from 472000000 to 470000000',
    ],
    [
      'overlap',
      [row('19:30:05', 470, 472, [-71, -72]), row('19:30:05', 471, 473, [-71, -72])],
      'Line 2: Two rows of one sweep overlap: 471000000 to 473000000 Hz, 470000000 to 472000000 Hz.',
    ],
    [
      'never end',
      Array.from({ length: 11 }, (_, index) =>
        row('19:30:05', index * 2000, index * 2000 + 2000, Array(2000).fill(-90)),
      ),
      'Line 11: The sweep from 0 Hz has more than 20000 points.',
    ],
    [
      'change their step',
      [row('19:30:05', 470, 472, [-71, -72]), row('19:30:05', 472, 474, [-71, -72]).replace(' 1000000,', ' 500000,')],
      'Line 2: Expected 4 levels, found 2.',
    ],
    ['cannot be read', Array(21).fill('hello'), '21 of 21 rows cannot be read. Line 1: Expected date, time'],
    ['are not in dB', [row('19:30:05', 470, 472, [71, 72])], 'Line 1: dbm: a median of 72 cannot be in dBm'],
  ])('are refused if they %s', (_, lines, message) => {
    const read = () => {
      const { rows } = sweepsOf(lines)
      if (rows.rowsSkipped[0]) throw new SweepError(`Line ${rows.rowsSkipped[0].line}: ${rows.rowsSkipped[0].why}`)
    }
    expect(read).toThrow(SweepError)
    expect(read).toThrow(message)
  })

  // Conformance: C-23.26.
  it('are skipped and listed if they are damaged', () => {
    const { rows, sweeps } = sweepsOf([
      '# rtl_power',
      '',
      row('19:30:05', 470, 472, [-71, -72]),
      'x',
      row('19:30:15', 470, 472, [-1, 900]),
    ])
    expect(sweeps).toHaveLength(1)
    expect([rows.rowsRead, rows.rowsSkipped]).toEqual([
      1,
      [
        { line: 4, why: 'Expected date, time, two frequencies, step, samples and levels.' },
        { line: 5, why: 'Expected levels from -250 to 100 dB.' },
      ],
    ])
    expect(() => rows.requireReadable()).toThrow('2 of 3 rows cannot be read. Line 4')
  })
})
