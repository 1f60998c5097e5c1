/**
 * Tests that levels that no longer arrive become unknown, and nothing else does, in the service with real sockets. The
 * devices of a call run together, on a clock that the test advances, because levels are valid for a while.
 */

import { expect, test } from 'vitest'
import type { Silence } from '../../../simulators/show/silence.ts'
import type { ChannelBody } from '../../../src/contract/channels.ts'
import { type LevelKind, levelKinds } from '../../../src/domain/levels/level-sample.ts'
import type { Plugin } from '../../../src/manufacturers/plugin.ts'
import { startApp, type TestApp } from '../app.ts'
import { onTestEnd } from '../cleanup.ts'
import { connectionRecord } from '../internals.ts'
import { startVirtualClock } from '../virtual-clock.ts'

export interface SilencedDevice {
  readonly url: string
  readonly password?: string
  /** The configuration of a system. Default: an entry for an individual device. */
  readonly system?: object
  /** Number of requests for meters so far, if the device sends them only on request. */
  readonly meterRequests?: number
  setSilence(silence: Silence | null): void
  close(): Promise<void>
}

export interface DeviceWithLevels {
  readonly name: string
  readonly plugin: Plugin
  /** For how many seconds its levels are valid; null for levels that it never reports. */
  readonly validSeconds: Readonly<Record<LevelKind, number | null>>
  /** Levels that arrive for all channels in one message, so that no channel loses them alone. */
  readonly sharedLevels?: readonly LevelKind[]
  /** Starts the device at its own address, because devices may be identified by their addresses. */
  start(host: string): Promise<SilencedDevice>
}

interface MonitoredDevice extends DeviceWithLevels {
  readonly device: SilencedDevice
}

interface MonitoredChannel {
  /** The name of the device. */
  readonly device: string
  readonly receiver: number
  readonly isOnline: boolean
  readonly connectedAt: number | null
  readonly channel: ChannelBody
}

/** Sampled levels arrive until the silence begins; others up to one query before it, or one query after it. */
const toleranceMs = (validSeconds: number) => (validSeconds < 10 ? 1_500 : 11_000)
/** After this time without levels, there is an alert. */
const alertMs = 17_000

export function testSilences(kinds: readonly DeviceWithLevels[]): void {
  const names = kinds.map(({ name }) => name).join(', ')
  // Conformance: C-22.5.
  // Reliability: R11.
  test(`levels of ${names} that no longer arrive become unknown, and nothing else does`, async () => {
    const clock = startVirtualClock()
    const devices: MonitoredDevice[] = []
    for (const [index, kind] of kinds.entries()) {
      devices.push({ ...kind, device: await kind.start(`127.0.0.${2 + index}`) })
    }
    for (const { device } of devices) onTestEnd(() => device.close())
    const app = await clock.settle(startApp({ manufacturers: configure(devices) }))
    const read = () => clock.settle(readChannels(app, devices))
    let before = await read()
    for (let seconds = 0; seconds < 60; seconds += 5) {
      await clock.advance(5_000)
      before = await read()
      if (seconds >= 15 && devices.every((kind) => initialProblemsOf(kind, before).length === 0)) break
    }
    expect(devices.flatMap((kind) => initialProblemsOf(kind, before))).toEqual([])

    const startRequests = countRequests(devices)
    const times = checkTimes(devices)
    const requests: Record<string, readonly number[]> = {}
    for (const silence of [1, 'facts', 'levels'] as const) {
      const requestsBefore = countRequests(devices)
      for (const kind of devices) setSilence(kind, silence)
      for (const [index, forMs] of times.entries()) {
        await clock.advance(forMs - (times[index - 1] ?? 0))
        const now = await read()
        const problems = devices.flatMap((kind) => problemsOf(kind, { now, before, silence, forMs }))
        expect(problems, `after ${forMs} ms`).toEqual([])
      }
      requests[silence] = countRequests(devices).map((count, index) => count - (requestsBefore[index] ?? 0))
      const alerts = await clock.settle(readAlerts(app))
      const alerted = before.filter((channel) => isAlerted(channel, silence, devices))
      expect(new Set(alerts)).toEqual(new Set(alerted.map(({ receiver }) => receiver)))
      expect(alerts).toEqual([...new Set(alerts)])
      for (const { device } of devices) device.setSilence(null)
      await clock.advance(toleranceMs(30) * 2)
      const recovered = await read()
      const problems = devices.flatMap((kind) => problemsOf(kind, { now: recovered, before, silence: null, forMs: 0 }))
      expect(problems, 'after the silence').toEqual([])
    }
    // Meters are requested once more, and not as long as the silence lasts.
    for (const [index, { name }] of devices.entries()) {
      const more = (requests.levels?.[index] ?? 0) - (requests.facts?.[index] ?? 0)
      expect(more, `more requests for meters of ${name}`).toBeLessThanOrEqual(startRequests[index] ?? 0)
    }
    await clock.settle(app.close())
  })
}

function configure(devices: readonly MonitoredDevice[]): object[] {
  const codes = [...new Set(devices.map(({ plugin }) => plugin.code))]
  return codes.map((code) => {
    const ofPlugin = devices.filter(({ plugin }) => plugin.code === code).map(({ device }) => device)
    const system = ofPlugin.find((device) => device.system !== undefined)?.system
    return { code, config: system ?? { devices: ofPlugin.map(({ url, password = 'x' }) => ({ url, password })) } }
  })
}

/** Returns when to check, after the beginning of a silence: shortly before levels expire, and when they have. */
function checkTimes(devices: readonly MonitoredDevice[]): readonly number[] {
  const valid = [...new Set(devices.flatMap(({ validSeconds }) => Object.values(validSeconds)))].filter(
    (seconds) => seconds !== null,
  )
  const times = valid.flatMap((seconds) => [-1, 1].map((sign) => 1000 * seconds + sign * toleranceMs(seconds)))
  return [...times, Math.max(...times) + alertMs].sort((a, b) => a - b)
}

const hasLevels = ({ validSeconds }: DeviceWithLevels) => levelKinds.some((kind) => validSeconds[kind] !== null)

function setSilence(kind: MonitoredDevice, silence: Silence): void {
  // A device without levels that reports no facts is lost.
  if (silence !== 'facts' || hasLevels(kind)) kind.device.setSilence(silence)
}

const countRequests = (devices: readonly MonitoredDevice[]) => devices.map(({ device }) => device.meterRequests ?? 0)

async function readChannels(app: TestApp, devices: readonly MonitoredDevice[]): Promise<readonly MonitoredChannel[]> {
  const receivers = await app.receivers()
  const connectionOf = (id: number) => connectionRecord(app, id)
  return devices.flatMap(({ name, device }) =>
    receivers
      .filter(({ id }) => connectionOf(id)?.source?.endsWith(device.url))
      .flatMap(({ id, is_active, channels }) =>
        channels.map((channel) => ({
          device: name,
          receiver: id,
          isOnline: is_active,
          connectedAt: connectionOf(id)?.connected_at ?? null,
          channel,
        })),
      ),
  )
}

/** Returns the receivers with an open alert that their levels are lost. */
async function readAlerts(app: TestApp): Promise<readonly number[]> {
  const { json } = await app.get('/api/alerts/')
  const alerts: readonly { kind: string; state: string; receiver_id: number }[] = json
  const open = alerts.filter(({ kind, state }) => kind === 'levels_lost' && state !== 'cleared')
  const lost = open.map(({ receiver_id }) => receiver_id)
  return lost.sort((a, b) => a - b)
}

function isAlerted(
  { channel, device }: MonitoredChannel,
  silence: Silence,
  devices: readonly MonitoredDevice[],
): boolean {
  const kind = devices.find(({ name }) => name === device)
  if (kind === undefined || channel.transmitter === null) return false
  return levelKinds.some((level) => kind.validSeconds[level] !== null && isSilent(kind, level, { silence, channel }))
}

/** True if the silence stops levels of this kind on the channel. */
function isSilent(
  { sharedLevels = [] }: DeviceWithLevels,
  kind: LevelKind,
  { silence, channel }: { readonly silence: Silence | null; readonly channel: ChannelBody },
): boolean {
  return silence === 'levels' || (silence === channel.channel && !sharedLevels.includes(kind))
}

/** The first channel of every device must have the levels that its kind reports. */
function initialProblemsOf({ name, validSeconds }: DeviceWithLevels, before: readonly MonitoredChannel[]): string[] {
  const first = before.find(({ device }) => device === name)?.channel
  if (first === undefined) return [`${name} is not monitored`]
  const isWrong = (kind: LevelKind) => (levelOf(first, kind) === null) !== (validSeconds[kind] === null)
  return levelKinds.filter(isWrong).map((kind) => `${name} has ${kind} ${levelOf(first, kind)}`)
}

interface Expected {
  readonly now: readonly MonitoredChannel[]
  readonly before: readonly MonitoredChannel[]
  readonly silence: Silence | null
  readonly forMs: number
}

function problemsOf(kind: DeviceWithLevels, expected: Expected): string[] {
  const own = ({ device }: MonitoredChannel) => device === kind.name
  return expected.before.filter(own).flatMap((earlier) => {
    const isSame = ({ receiver, channel }: MonitoredChannel) =>
      receiver === earlier.receiver && channel.channel === earlier.channel.channel
    const current = expected.now.find(isSame)
    const name = `${kind.name} channel ${earlier.channel.channel}`
    if (current === undefined) return [`${name} is not monitored`]
    return problemsOfChannel(kind, { current, earlier, ...expected }).map((problem) => `${name} ${problem}`)
  })
}

function problemsOfChannel(
  device: DeviceWithLevels,
  { current, earlier, silence, forMs }: Expected & Record<'current' | 'earlier', MonitoredChannel>,
): string[] {
  const { channel } = current
  const problems: string[] = []
  const batteries = [channel, earlier.channel].map(({ transmitter }) => transmitter?.battery ?? null)
  if (!current.isOnline) problems.push('is offline')
  if (current.connectedAt !== earlier.connectedAt) problems.push('was connected again')
  if ((batteries[0] === null) !== (batteries[1] === null)) problems.push(`has a battery of ${batteries[0]}`)
  const lost = levelKinds.filter((kind) => {
    const seconds = device.validSeconds[kind]
    const [now, then] = [levelOf(channel, kind), levelOf(earlier.channel, kind)]
    if (seconds === null || !isSilent(device, kind, { silence, channel })) {
      if ((now === null) !== (then === null)) problems.push(`has ${kind} ${now}`)
      return false
    }
    const differenceMs = forMs - 1000 * seconds
    if (now !== null && differenceMs >= toleranceMs(seconds)) problems.push(`still has ${kind} ${now}`)
    if (now === null && then !== null && differenceMs <= -toleranceMs(seconds))
      problems.push(`has lost ${kind} already`)
    return then !== null && now === null
  })
  const states = [channel.condition?.state, ...(channel.condition?.flags ?? [])]
  if (states.includes('no_levels') !== lost.length > 0) problems.push(`is ${states.join()}`)
  return problems
}

function levelOf({ rf_level, audio_level, details }: ChannelBody, kind: LevelKind): number | null {
  return kind === 'audio' ? audio_level : (rf_level ?? details?.rf_percent ?? details?.quality ?? null)
}
