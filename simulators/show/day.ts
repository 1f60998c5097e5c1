/**
 * The day before the show that the demo plays, as pure data chosen by seed. It has a preview in the evening, a quiet
 * night, a line check, a rehearsal, a matinee with an interval, and the call for the show that is running now. Times
 * are milliseconds since the start of the show, so those of the day before are negative.
 */

import type { ChannelSetup, DeviceSetup } from './cast.ts'
import { chance } from './levels.ts'

export interface Period {
  readonly fromMs: number
  readonly toMs: number
}

/** A transmitter that is on. Its battery drains evenly. */
export interface OnPeriod extends Period {
  readonly batteryFrom: number
  readonly batteryTo: number
}

/** Periods are in chronological order and do not overlap. */
export interface ChannelDay {
  readonly on: readonly OnPeriod[]
  readonly muted: readonly Period[]
  readonly interference: readonly Period[]
}

export interface DeviceDay {
  readonly offline: readonly Period[]
  readonly channels: ReadonlyMap<number, ChannelDay>
}

/** A remark of the crew. `toMs` is null for a moment, and `channel` is set for a single channel. */
export interface Remark {
  readonly fromMs: number
  readonly toMs: number | null
  readonly text: string
  readonly channel?: { readonly deviceId: string; readonly channel: number }
}

/** The incidents in the whole venue. */
export interface VenueDay {
  readonly shows: readonly (Period & { readonly title: string })[]
  readonly remarks: readonly Remark[]
  /** By id of the device in the show. */
  readonly devices: ReadonlyMap<string, DeviceDay>
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

const hours = (from: number, to: number): Period => ({ fromMs: from * hourMs, toMs: to * hourMs })

const preview = hours(-23.6, -21.7)
const lineCheck = hours(-9.5, -8.6)
const rehearsal = hours(-8.4, -6.4)
const matinee = hours(-4.8, -2.4)
const interval = hours(-3.75, -3.4)
const call = hours(-1.4, 0)

interface Session extends Period {
  /** Transmitters are switched on up to this long before `fromMs`, and off up to this long after `toMs`. */
  readonly leadMs: number
  readonly trailMs: number
  /** The proportion of transmitters in use. */
  readonly share: number
}

const sessions: readonly Session[] = [
  { ...preview, leadMs: 20 * minuteMs, trailMs: 15 * minuteMs, share: 0.97 },
  { ...rehearsal, leadMs: 10 * minuteMs, trailMs: 10 * minuteMs, share: 0.75 },
  { ...matinee, leadMs: 40 * minuteMs, trailMs: 15 * minuteMs, share: 0.97 },
  { ...call, leadMs: 25 * minuteMs, trailMs: 0, share: 1 },
]

/** Devices and channels with incidents. */
interface Incidents {
  /** A receiver that was offline during the rehearsal, and one that was offline at night. */
  readonly offline: ReadonlyMap<string, Period>
  /** A battery that ran low in the matinee and was changed. */
  readonly lowBattery: ChannelSetup | undefined
  /** A battery that ran empty in the rehearsal. */
  readonly emptyBattery: ChannelSetup | undefined
  /** A spare channel with interference. */
  readonly interference: ChannelSetup | undefined
}

const batteryChange = -3.02 * hourMs
const batteryDied = -7.2 * hourMs
const interferenceAt: Period = { fromMs: -5.3 * hourMs, toMs: -5.3 * hourMs + 214_000 }

/** Plans the day of these devices. The transmitters that are on at its end have the batteries of the setups. */
export function planDay(seed: number, setups: readonly DeviceSetup[]): VenueDay {
  const incidents = chooseIncidents(seed, setups)
  const devices = setups.map(({ device, channels }): [string, DeviceDay] => {
    const offline = incidents.offline.get(device.id)
    const days = channels.map((setup): [number, ChannelDay] => [setup.channel, planChannel(setup, incidents)])
    return [device.id, { offline: offline === undefined ? [] : [offline], channels: new Map(days) }]
  })
  return {
    shows: [
      { ...preview, title: 'Preview' },
      { ...matinee, title: 'Matinee' },
    ],
    remarks: writeRemarks(setups, incidents),
    devices: new Map(devices),
  }
}

function chooseIncidents(seed: number, setups: readonly DeviceSetup[]): Incidents {
  const order = setups
    .map((setup, index) => ({ setup, key: chance(Math.imul(seed, 0x9e3779b1), index) }))
    .sort((a, b) => a.key - b.key)
    .map(({ setup }) => setup)
  const [rehearsing, sleeping] = order
  const offline = new Map<string, Period>()
  if (rehearsing !== undefined) offline.set(rehearsing.device.id, hours(-7.6, -7.45))
  if (sleeping !== undefined) offline.set(sleeping.device.id, hours(-14.2, -13.85))
  const others = order.slice(2).flatMap(({ channels }) => channels)
  const [lowBattery, emptyBattery] = others.filter(({ pack }) => pack !== null)
  return { offline, lowBattery, emptyBattery, interference: others.find(({ pack }) => pack === null) }
}

function writeRemarks(setups: readonly DeviceSetup[], incidents: Incidents): Remark[] {
  const about = (setup: ChannelSetup | undefined, fromMs: number, text: string): Remark[] => {
    const device = setups.find(({ channels }) => setup !== undefined && channels.includes(setup))?.device
    if (setup === undefined || device === undefined) return []
    return [{ fromMs, toMs: null, text, channel: { deviceId: device.id, channel: setup.channel } }]
  }
  return [
    { ...lineCheck, text: 'Line check' },
    { ...rehearsal, text: 'Rehearsal' },
    ...about(incidents.emptyBattery, batteryDied + 3 * minuteMs, 'Battery was empty, changed'),
    ...about(incidents.interference, interferenceAt.toMs, 'Noise until the LED wall was reset'),
    { fromMs: matinee.fromMs - 30 * minuteMs, toMs: null, text: 'Audience in' },
    { ...interval, text: 'Interval' },
    ...about(incidents.lowBattery, batteryChange + minuteMs, 'Battery changed in the quick change'),
    { fromMs: call.fromMs, toMs: null, text: 'Call' },
  ]
}

// --- One channel ------------------------------------------------------------------------------------------------------

function planChannel(setup: ChannelSetup, incidents: Incidents): ChannelDay {
  const interference = setup === incidents.interference ? [interferenceAt] : []
  if (setup.pack === null) return { on: [], muted: [], interference }
  const isNeeded = setup === incidents.lowBattery || setup === incidents.emptyBattery
  const attended = sessions.filter((session, index) => isNeeded || session.share > chance(setup.seed + 801, index))
  const on = [
    ...addBatteries(
      setup,
      attended.map((session) => attend(setup, session)),
    ),
    ...checkLine(setup),
  ].sort((a, b) => a.fromMs - b.fromMs)
  return {
    on: on.flatMap((period) => applyBatteryIncident(setup, period, incidents)),
    muted: planMutes(setup, attended),
    interference,
  }
}

function attend({ seed }: ChannelSetup, session: Session): Period {
  const offset = (salt: number) => chance(seed + salt, Math.floor(session.fromMs / hourMs))
  return {
    fromMs: Math.round(session.fromMs - session.leadMs * offset(802)),
    toMs: Math.round(session.toMs + session.trailMs * offset(803)),
  }
}

/** The transmitters are checked one after another, in the order of their slots, and are on for a few minutes each. */
function checkLine({ seed, slot }: ChannelSetup): OnPeriod[] {
  const length = lineCheck.toMs - lineCheck.fromMs - 6 * minuteMs
  const fromMs = Math.round(lineCheck.fromMs + length * ((slot % 97) / 97))
  const toMs = Math.round(fromMs + minuteMs * (2 + 3 * chance(seed, 804)))
  const batteryFrom = 70 + Math.floor(30 * chance(seed, 805))
  return [{ fromMs, toMs, batteryFrom, batteryTo: batteryFrom }]
}

/** Adds the batteries from the last period backwards, so that the last one ends with the charge of the show's start. */
function addBatteries({ seed, pack }: ChannelSetup, periods: readonly Period[]): OnPeriod[] {
  if (pack === null) return []
  let batteryTo = pack.charge
  return periods
    .toReversed()
    .map((period, index) => {
      const drained = (pack.firstPerHour * (period.toMs - period.fromMs)) / hourMs
      const batteryFrom = Math.min(batteryTo + drained, 99)
      const result = { ...period, batteryFrom, batteryTo }
      // The earlier session used the same battery, or it was changed between the sessions.
      const isSame = batteryFrom < 75 && chance(seed + 806, index) < 0.4
      batteryTo = isSame ? batteryFrom : 25 + 30 * chance(seed + 807, index)
      return result
    })
    .toReversed()
}

const changeMs = 41_000

/** Splits a period in which the battery ran low or empty. */
function applyBatteryIncident(setup: ChannelSetup, period: OnPeriod, incidents: Incidents): OnPeriod[] {
  const isIn = (timeMs: number) => period.fromMs < timeMs && timeMs < period.toMs
  const split = (atMs: number, offMs: number, batteryTo: number): OnPeriod[] => [
    { ...period, toMs: atMs, batteryFrom: 68, batteryTo },
    { ...period, fromMs: atMs + offMs, batteryFrom: 100, batteryTo: Math.min(90, period.batteryTo + 30) },
  ]
  if (setup === incidents.lowBattery && isIn(batteryChange)) return split(batteryChange, changeMs, 7)
  if (setup === incidents.emptyBattery && isIn(batteryDied)) return split(batteryDied, 4 * minuteMs, 3)
  return [period]
}

/** Most channels are muted in the interval; speakers also mute between their appearances. */
function planMutes({ seed, part }: ChannelSetup, attended: readonly Session[]): Period[] {
  const mutes = attended.flatMap((session, index): Period[] => {
    const isSpeaker = part === 'speech' || chance(seed + 808, index) < 0.2
    if (!isSpeaker || session.toMs === 0) return []
    const length = session.toMs - session.fromMs
    return [0.12, 0.62, 0.84].map((share, number) => {
      const fromMs = Math.round(session.fromMs + length * (share + 0.05 * chance(seed + 809 + index, number)))
      return { fromMs, toMs: Math.round(fromMs + minuteMs * (2 + 7 * chance(seed + 812 + index, number))) }
    })
  })
  const isMutedInInterval = attended.some(({ fromMs }) => fromMs === matinee.fromMs) && chance(seed, 815) < 0.8
  const all = isMutedInInterval ? [...mutes, shift(interval, 90_000 * chance(seed, 816))] : mutes
  return mergeOverlapping(all.sort((a, b) => a.fromMs - b.fromMs))
}

function shift({ fromMs, toMs }: Period, byMs: number): Period {
  return { fromMs: Math.round(fromMs + byMs), toMs: Math.round(toMs + byMs) }
}

function mergeOverlapping(periods: readonly Period[]): Period[] {
  const merged: Period[] = []
  for (const period of periods) {
    const last = merged.at(-1)
    if (last === undefined || period.fromMs > last.toMs) merged.push(period)
    else merged[merged.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, period.toMs) }
  }
  return merged
}

// --- State at a time --------------------------------------------------------------------------------------------------

/** Returns the period that contains the time; `toMs` is exclusive. */
export function findPeriod<T extends Period>(periods: readonly T[], timeMs: number): T | undefined {
  return periods.find(({ fromMs, toMs }) => fromMs <= timeMs && timeMs < toMs)
}

export function batteryIn({ fromMs, toMs, batteryFrom, batteryTo }: OnPeriod, timeMs: number): number {
  return Math.round(batteryFrom + ((batteryTo - batteryFrom) * (timeMs - fromMs)) / (toMs - fromMs))
}
