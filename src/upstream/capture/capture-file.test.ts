import { describe, expect, it } from 'vitest'
import { type Capture, formatCapture, maxCaptureFileBytes, parseCapture } from './capture-file.ts'

const capture: Capture = {
  header: {
    ...{ format: 'micwatch-capture', version: 1, micwatch: '1.0.0', started_at: '2026-01-01T00:00:00.000Z' },
    ...{ plugin: 'shure', protocol: 'strings', address: 'tcp://192.0.2.1:2202', models: ['ULXD4'], firmware: [] },
    ...{ replaced: { name: 1 }, known: [] },
  },
  lines: [
    { t: -1, session: 1, transport: 'tcp', from: 'micwatch', text: '< GET MODEL >' },
    { t: 0.5, report: { id: 'strings:1', kind: 'receiver', name: 'Abc' } },
  ],
  end: { t: 1, end: 'time', lines: 2 },
}
const file = formatCapture(capture)
const [header = '', ...rest] = file.split('\n')

describe('parseCapture', () => {
  // Conformance: C-24.5.
  it('reads what was written', () => {
    expect(parseCapture(file)).toEqual(capture)
  })

  it('reads a capture of a connection that was opened a month before', () => {
    const opening = file.replace('"t":-1', '"t":-2678400')
    expect(parseCapture(opening).lines[0]?.t).toBe(-2_678_400)
  })

  it('reads a file that was cut off up to its last complete line', () => {
    expect(parseCapture(file.slice(0, file.indexOf('"end"')))).toEqual({ ...capture, end: null })
  })

  // Conformance: C-24.67.
  it.each([
    ['an empty file', '', 'line 1: expected the header of a capture; the file has no complete line'],
    ['another file', 'hello\n', 'line 1: not JSON'],
    ['another header', '{"format":"pcap"}\n', /^line 1: /],
    ['an unknown field', file.replace('"session":1', '"session":1,"run":"rm"'), 'line 2: run: unknown field'],
    ['a wrong type', file.replace('"session":1', '"session":"x"'), 'line 2: session: must be integer'],
    ['a removed line', [header, ...rest.slice(1)].join('\n'), /line 3: lines: 2 were recorded, but the file has 1/],
    ['lines out of order', file.replace('"t":0.5', '"t":-9'), 'line 3: t: expected at least -1, the line before it'],
    ['a line after the end', `${file}{"t":2}\n`, 'line 5: expected nothing after the line with "end"'],
    ['a control character in a header', file.replace('"text"', '"type":"a\\nb","text"'), /^line 2: type: /],
    ['a status without a response', file.replace('"text"', '"status":101,"text"'), /^line 2: status: /],
    ['millions of lines', `${header}\n${'{}\n'.repeat(5_000_000)}`, /^line 2: must have required properties/],
    ['deep nesting', `${header}\n${'['.repeat(5000)}${']'.repeat(5000)}\n`, 'line 2: nested deeper than 32 levels'],
    ['a huge file', 'x'.repeat(maxCaptureFileBytes + 1), /^expected at most \d+ bytes$/],
  ])('refuses %s and says where', (_, text, message) => {
    expect(() => parseCapture(text)).toThrow(message)
  })
})
