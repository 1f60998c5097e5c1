import { expect, it } from 'vitest'
import { csvHeading, formatCsv, formatLevels } from './formats.ts'
import { createSteps } from './steps.ts'

const from = Date.parse('2026-05-01T18:00:00Z') / 1000

function example() {
  const steps = createSteps(from, 2, [7])
  for (const [name, value] of Object.entries({ state: 3, rf_min: -62, rf_max: -58, audio_max: -12, weak_ms: 200 })) {
    steps.columns[name as 'state'][0] = value
  }
  return steps
}

it('formats only the requested series as JSON', () => {
  expect(JSON.parse(formatLevels(example(), 10, { to: from + 15, series: ['audio', 'minutes'] }))).toEqual({
    from: '2026-05-01T18:00:00.000Z',
    to: '2026-05-01T18:00:15.000Z',
    step_seconds: 10,
    channels: [
      {
        id: 7,
        state: 'm-',
        audio: { max: [-12, null], last: [null, null] },
        minutes: { last: [null, null] },
        weak_ms: [200, null],
      },
    ],
  })
})

// Conformance: C-12.9.
it('formats CSV with CRLF, empty cells for missing values, and numbers as they are', () => {
  expect(csvHeading.startsWith('\uFEFFtime,channel_id,name,state,rf_min')).toBe(true)
  expect(formatCsv(example(), 10, ['Aurelio'])).toBe(
    '2026-05-01T18:00:00.000Z,7,Aurelio,m,-62,-58,-12,,,,,200\r\n2026-05-01T18:00:10.000Z,7,Aurelio,,,,,,,,,\r\n',
  )
})

// Conformance: C-12.9.
it.each([
  ['=1+1', `'=1+1`],
  ['+x', `'+x`],
  ['-x', `'-x`],
  ['@x', `'@x`],
  ['＝1+1', `'＝1+1`],
  ['＋x', `'＋x`],
  ['－x', `'－x`],
  ['＠x', `'＠x`],
  ['\tx', `"'\tx"`],
  ['\rx', `"'\rx"`],
  ['\nx', `"'\nx"`],
  ['a "b", c', '"a ""b"", c"'],
  ['a;b', '"a;b"'],
  ['a\tb', '"a\tb"'],
  ['a=b', 'a=b'],
])('writes the name %j as %j', (name, cell) => {
  const [line] = formatCsv(example(), 1, [name]).split(',m,')
  expect(line?.slice('2026-05-01T18:00:00.000Z,7,'.length)).toBe(cell)
})
