/**
 * The adapter for Arcadia, FreeSpeak II and FreeSpeak Edge stations. They push changes over Socket.IO only, so a
 * subscription polls them.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelReading, DeviceReport } from '../../domain/equipment/receiver.ts'
import { neverAborted } from '../../platform/wait.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { createMisfits, type Misfits } from '../../upstream/field-table.ts'
import { timeFor } from '../../upstream/queries.ts'
import { defineAdapter, type OnProblems, type PushEvent, type SubscriptionTargets, withoutParts } from '../plugin.ts'
import { fields } from './fields.ts'
import { StationSession } from './session.ts'
import { listFields, type Station, toDeviceReport } from './station.ts'

/** The interval at which public clients poll. */
const minRoundMs = 2_000
/** The station, its endpoints and its roles. */
const requestsPerRound = 3

export const stations = defineAdapter<Station>({
  protocol: 'clearcom',
  async listDevices(client, signal = neverAborted) {
    const station = await new StationSession(client, signal).readStation()
    return { devices: [station], malformed: station.malformed }
  },

  ...withoutParts,
  transformDeviceData(station) {
    const { device, packs, antennas } = station
    return { ...toDeviceReport(station), metadata: { device, endpoints: [...packs.values(), ...antennas] } }
  },

  problemsOf(station) {
    const misfits = createMisfits(station.host, fields)
    misfits.check(listFields(station))
    return misfits.list()
  },

  // The units of RSSI and link quality are not public, and the audio is not measured.
  levels: () => ({ rf: null, audio: null }),
  transport: 'tcp',
  pushesEverything: true,
  startsWithFullReport: true,
  subscribe,
})

async function* subscribe(
  client: UpstreamClient,
  _targets: SubscriptionTargets,
  signal: AbortSignal,
  _onLevels?: unknown,
  onProblems?: OnProblems,
): AsyncGenerator<PushEvent> {
  const known = new Set<number>()
  try {
    const session = new StationSession(client, signal)
    let misfits: Misfits | undefined
    for (;;) {
      const startedAt = performance.now()
      const station = await session.readStation()
      const isFirst = misfits === undefined
      if (isFirst) yield { type: 'open' }
      misfits ??= createMisfits(station.host, fields)
      // The first report also replaces the problems of the previous session.
      if (misfits.check(listFields(station)) || isFirst) onProblems?.(misfits.list())
      yield { type: 'report', report: withRemovedPacks(toDeviceReport(station), known), isComplete: true }
      if (station.malformed > 0) {
        yield { type: 'ignored', reason: `${station.malformed} endpoints could not be parsed` }
      }
      const intervalMs = Math.max(minRoundMs, timeFor(client.settings.rateLimit, requestsPerRound))
      await pause(Math.max(0, startedAt + intervalMs - performance.now()), undefined, { signal })
      await session.keepAlive()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Adds each pack that is no longer registered, without a transmitter. `known` contains all packs reported so far. */
function withRemovedPacks(report: DeviceReport, known: Set<number>): DeviceReport {
  const present = new Set(report.channels?.map(({ channel }) => channel))
  const removed = [...known].filter((channel) => !present.has(channel))
  for (const channel of present) known.add(channel)
  const empty = removed.map((channel): ChannelReading => ({ channel, transmitter: null }))
  return empty.length === 0 ? report : { ...report, channels: [...(report.channels ?? []), ...empty] }
}

/** A station serves the description of its interface. */
const descriptionPath = '/api/1/schemas/clearcom_api.json'

/** Identifies a station without a password. Throws if the host is none. */
export async function identifyStation(client: UpstreamClient, signal: AbortSignal): Promise<DeviceReport> {
  const { hostname } = new URL(client.settings.baseUrl)
  const { body } = await client.request('GET', descriptionPath, {
    signal,
    read: async (bytes) => /"title":\s*"[^"]{0,100}Clear-Com/.test(bytes.toString('utf8')),
  })
  if (body === true) return { id: `clearcom:${hostname}`, kind: 'receiver', device_type: 'clearcom' }
  throw new client.errors.ApiError(`${hostname} responds, but is not a Clear-Com station`, { failureKind: 'unusable' })
}
