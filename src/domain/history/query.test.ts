import { describe, expect, it } from 'vitest'
import { RequestError } from '../errors.ts'
import { parseLevelExport, parseLevelQuery, parsePastSecond } from './query.ts'

const now = Date.parse('2026-05-01T18:00:00Z')
const range = { channels: '1,2', from: '2026-05-01T17:00:00Z', to: '2026-05-01T17:10:00Z' }
const seconds = (text: string) => Date.parse(text) / 1000

function detailsOf(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof RequestError && error.status === 400) return error.details
    throw error
  }
  throw new Error('the request was accepted')
}

const listOf = (count: number) => Array.from({ length: count }, (_, index) => index + 1).join(',')

// Conformance: C-12.60, C-12.61, C-12.62.
describe('a query for levels', () => {
  it('has 600 points and all series by default', () => {
    expect(parseLevelQuery(range, now)).toEqual({
      channelIds: [1, 2],
      from: seconds('2026-05-01T17:00:00Z'),
      to: seconds('2026-05-01T17:10:00Z'),
      maxPoints: 600,
      series: ['rf', 'audio', 'quality', 'battery', 'minutes'],
    })
  })

  it('keeps the order of channels and series', () => {
    const query = parseLevelQuery({ ...range, channels: '9,2,5', series: 'minutes,rf' }, now)
    expect(query).toMatchObject({ channelIds: [9, 2, 5], series: ['minutes', 'rf'] })
  })

  it('accepts an offset, and extends parts of seconds to whole seconds', () => {
    const query = parseLevelQuery(
      { ...range, from: '2026-05-01T19:00:00.900+02:00', to: '2026-05-01T17:00:02.1Z' },
      now,
    )
    expect([query.from, query.to]).toEqual([seconds('2026-05-01T17:00:00Z'), seconds('2026-05-01T17:00:03Z')])
  })

  it('may end a minute in the future, but not later', () => {
    expect(parseLevelQuery({ ...range, to: '2026-05-01T18:01:00Z' }, now).to).toBe(seconds('2026-05-01T18:01:00Z'))
    expect(detailsOf(() => parseLevelQuery({ ...range, to: '2026-05-01T18:01:00.001Z' }, now))).toMatch(/^to: /)
  })

  it.each([
    [{ channels: '' }, 'channels'],
    [{ channels: '1,,2' }, 'channels'],
    [{ channels: '1,' }, 'channels'],
    [{ channels: '1,2,1' }, 'channels'],
    [{ channels: '0' }, 'channels'],
    [{ channels: '01' }, 'channels'],
    [{ channels: '1.5' }, 'channels'],
    [{ channels: 'all' }, 'channels'],
    [{ channels: '9007199254740993' }, 'channels'],
    [{ channels: listOf(101) }, 'channels'],
    [{ series: 'rf,loudness' }, 'series'],
    [{ series: 'rf,' }, 'series'],
    [{ series: 'rf,rf' }, 'series'],
    [{ from: '2026-02-30T00:00:00Z' }, 'from'],
    [{ from: '2026-05-01T17:00:00' }, 'from'],
    [{ from: '2026-05-01' }, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-04-31T17:00:00Z' }, 'to'],
    [{ from: range.to }, 'from'],
    [{ from: range.to, to: range.from }, 'from'],
  ])('rejects %j', (change, name) => {
    expect(detailsOf(() => parseLevelQuery({ ...range, ...change }, now))).toMatch(new RegExp(`^${name}: `))
  })
})

// Conformance: C-12.64.
describe('an export', () => {
  it('has steps of one second by default', () => {
    expect(parseLevelExport(range, now)).toMatchObject({ channelIds: [1, 2], step: 1 })
    expect(parseLevelExport({ ...range, step: '600' }, now).step).toBe(600)
  })

  it('has no limit of points', () => {
    const year = { from: '2025-05-01T00:00:00Z', to: '2026-05-01T00:00:00Z' }
    expect(() => parseLevelExport({ ...year, channels: listOf(100) }, now)).not.toThrow()
  })

  it.each(['0', '2', '1.0', 'day'])('rejects steps of %s', (step) => {
    expect(detailsOf(() => parseLevelExport({ ...range, step }, now))).toBe(
      'step: expected one of 1, 10, 60, 600, 3600',
    )
  })
})

// Conformance: C-12.66.
describe('the time of a past second', () => {
  it('is a whole second, now or earlier', () => {
    expect(parsePastSecond('2026-05-01T18:00:00Z', now)).toBe(seconds('2026-05-01T18:00:00Z'))
    expect(parsePastSecond('2026-05-01T19:30:00.000+02:00', now)).toBe(seconds('2026-05-01T17:30:00Z'))
  })

  it.each(['2026-05-01T18:00:01Z', '2026-05-01T17:00:00.5Z', '2026-02-30T00:00:00Z', '2026-05-01', 'now'])(
    'rejects %s',
    (text) => {
      expect(detailsOf(() => parsePastSecond(text, now))).toMatch(/^time: /)
    },
  )
})
