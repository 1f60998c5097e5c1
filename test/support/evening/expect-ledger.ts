/**
 * Compares the service's records with the ledgers of packs.
 *
 * Tolerances: a simulated receiver reports a change within 200 ms, and the service applies it within 20 ms. The measured
 * delays of both event loops are added. A recorded time is therefore up to `toleranceMs` after that in the ledger. A
 * duration differs by up to `toleranceMs`, plus 0.05 s where it is rounded to 0.1 s. A recorded second may contain the
 * state of up to `toleranceMs` earlier.
 */

import { expect } from 'vitest'
import type { EventBody, HistoryLevelsBody } from '../../../src/contract/history.ts'
import type { ReportedChannel } from '../../../src/contract/reports.ts'
import { firstPercentile, type Ledger, noiseDbm, type PackState, type Stretch } from './ledger.ts'

const reportMs = 200
const frameMs = 20
/** A pack that is switched on for the first time is stored before it is shown. */
const storeMs = 1000

export function toleranceOf({ latenessMs }: { readonly latenessMs: number }): number {
  return reportMs + frameMs + latenessMs
}

/** Expects a time to be at most `toleranceMs` after that in the ledger. */
export function expectTime(what: string, actual: string | null, expected: number, toleranceMs: number): void {
  const lateMs = Date.parse(actual ?? '') - expected
  expect(
    lateMs >= -1 && lateMs <= toleranceMs,
    `${what}: ${lateMs} ms late; up to ${toleranceMs} ms are expected`,
  ).toBe(true)
}

function expectSeconds(what: string, actual: unknown, expected: number, toleranceMs: number): void {
  const difference = Math.abs((actual as number) - expected)
  expect(difference <= 0.05 + toleranceMs / 1000, `${what}: ${actual} s instead of ${expected.toFixed(2)} s`).toBe(true)
}

/** The events of a pack that follow from its ledger, by kind. */
const momentsOf = {
  transmitter_on: (ledger: Ledger, range: Stretch) => ledger.beginnings(range, () => true),
  transmitter_off: (ledger: Ledger, range: Stretch) => ledger.endings(range, () => true),
  muted: (ledger: Ledger, range: Stretch) => ledger.beginnings(range, isMuted),
  battery_low: (ledger: Ledger, range: Stretch) => ledger.beginnings(range, ({ battery }) => battery <= 20),
  battery_critical: (ledger: Ledger, range: Stretch) => ledger.beginnings(range, ({ battery }) => battery <= 10),
} as const satisfies Partial<Record<EventBody['kind'], (ledger: Ledger, range: Stretch) => readonly number[]>>

const isMuted = (state: PackState) => state.isMuted
const isWeak = ({ rf }: PackState) => rf < -85
const isClipping = ({ audio }: PackState) => audio > -1
const hasInterference = (state: PackState) => state.hasInterference

const stretchesOf = {
  rf_dropout: isWeak,
  clipping: isClipping,
  interference: hasInterference,
} as const satisfies Partial<Record<EventBody['kind'], (state: PackState) => boolean>>

/** Expects exactly the events about a channel that follow from the ledger of its pack. */
export function expectEvents(
  { name, ledger }: { readonly name: string; readonly ledger: Ledger },
  events: readonly EventBody[],
  range: Stretch,
  toleranceMs: number,
): void {
  const ofKind = (kind: string) => events.filter((event) => event.kind === kind).toReversed()
  for (const [kind, find] of Object.entries(momentsOf)) {
    const expected = find(ledger, range)
    expect([name, kind, ofKind(kind).length]).toEqual([name, kind, expected.length])
    for (const [index, { time }] of ofKind(kind).entries())
      expectTime(
        `${name}: ${kind}`,
        time,
        expected[index] ?? 0,
        toleranceMs + (kind === 'transmitter_on' ? storeMs : 0),
      )
  }
  for (const [kind, isTrue] of Object.entries(stretchesOf)) {
    const expected = ledger.stretches(range, isTrue)
    expect([name, kind, ofKind(kind).length]).toEqual([name, kind, expected.length])
    for (const [index, { time, until, data }] of ofKind(kind).entries()) {
      const { from, to } = expected[index] as Stretch
      expectTime(`${name}: beginning of ${kind}`, time, from, toleranceMs)
      expectTime(`${name}: end of ${kind}`, until, to, toleranceMs)
      expectSeconds(`${name}: ${kind}`, data.seconds, (to - from) / 1000, toleranceMs)
      if (kind === 'rf_dropout') expect(data.lowest_dbm).toBe(ledger.lowestRf({ from, to }))
    }
  }
}

/** Expects every recorded second of a channel to contain what its pack did. Returns how many seconds were compared. */
export function expectSecondsOf(
  { name, ledger }: { readonly name: string; readonly ledger: Ledger },
  recorded: Pick<HistoryLevelsBody, 'from' | 'step_seconds'>,
  channel: HistoryLevelsBody['channels'][number],
  toleranceMs: number,
): number {
  expect(recorded.step_seconds).toBe(1)
  const start = Date.parse(recorded.from)
  for (const [second, letter] of [...channel.state].entries()) {
    // The first meter of a second arrives up to 200 ms after its beginning, the interval of SSC 1, with its delay.
    const windows = listShifts(toleranceMs).flatMap((shift) =>
      [0, reportMs, 2 * reportMs].map((begin) => ({ from: start + 1000 * second - shift, begin })),
    )
    const candidates = windows.map(({ from, begin }) => {
      const states = ledger.statesIn({ from: from + begin, to: from + 1000 })
      const last = states.at(-1) as PackState
      return {
        letter: last.isOn ? (last.isMuted ? 'm' : '1') : '0',
        rf: Math.min(...states.map(({ isOn, rf }) => (isOn ? rf : noiseDbm))),
        battery: last.isOn ? last.battery : null,
        audio: Math.max(...states.map(({ isOn, audio }) => (isOn ? audio : Number.NEGATIVE_INFINITY))),
        weakMs: 1000 * ledger.secondsIn({ from, to: from + 1000 }, isWeak),
      }
    })
    const what = `${name}, second ${second}`
    expect(
      candidates.map((each) => each.letter),
      what,
    ).toContain(letter)
    expect(
      candidates.map((each) => each.rf),
      `${what}: RF`,
    ).toContain(channel.rf?.min[second])
    expect(
      candidates.map((each) => each.battery),
      `${what}: battery`,
    ).toContain(channel.battery?.last[second])
    const weak = candidates.map((each) => each.weakMs)
    const weakMs = channel.weak_ms[second] ?? Number.NaN
    const isPossible = weakMs >= Math.min(...weak) - toleranceMs && weakMs <= Math.max(...weak) + toleranceMs
    expect(isPossible, `${what}: ${weakMs} ms weak instead of ${weak.join()}`).toBe(true)
  }
  return channel.state.length
}

/**
 * Expects the line of a report that follows from the ledger of a pack. Minutes are counted in recorded seconds, whose state
 * is that at their end, so each switch and each end of the show changes them by up to a second.
 */
export function expectReport(
  { name, ledger }: { readonly name: string; readonly ledger: Ledger },
  reported: ReportedChannel,
  range: Stretch,
  toleranceMs: number,
): void {
  const ends = [...ledger.stretches(range, () => true)].length * 2
  const minutes = ledger.secondsIn(range) / 60
  const isNear = Math.abs(reported.minutes_on - minutes) <= 0.05 + (ends * (1 + toleranceMs / 1000)) / 60
  expect(isNear, `${name}: ${reported.minutes_on} minutes on instead of ${minutes.toFixed(2)}`).toBe(true)
  const dropouts = ledger.stretches(range, isWeak)
  const clipping = ledger.stretches(range, isClipping)
  const [battery_start, battery_end] = ledger.batteries(range)
  expect(reported).toMatchObject({
    ...{ name, battery_start, battery_end },
    ...{ rf_lowest: ledger.lowestRf(range), rf_p1: firstPercentile(ledger.lowestRfBySecond(range)) },
    dropouts: { count: dropouts.length },
    interference: ledger.stretches(range, hasInterference).length,
    mutes: ledger.beginnings(range, isMuted).length,
    clipping: { count: clipping.length },
  })
  for (const [index, time] of reported.dropouts.times.entries())
    expectTime(`${name}: dropout`, time, dropouts[index]?.from ?? 0, toleranceMs)
  const { seconds, longest_seconds } = reported.dropouts
  const lengths = dropouts.map(({ from, to }) => (to - from) / 1000)
  expectSeconds(`${name}: dropouts`, seconds, ledger.secondsIn(range, isWeak), dropouts.length * (toleranceMs + 50))
  expectSeconds(`${name}: longest dropout`, longest_seconds, Math.max(0, ...lengths), toleranceMs)
  const clippingMs = clipping.length * (toleranceMs + 50)
  expectSeconds(`${name}: clipping`, reported.clipping.seconds, ledger.secondsIn(range, isClipping), clippingMs)
}

/** Delays between a change in a ledger and its record, up to the tolerance. */
function listShifts(toleranceMs: number): number[] {
  const stepMs = 10
  return Array.from({ length: Math.ceil(toleranceMs / stepMs) + 1 }, (_, index) => index * stepMs)
}
