/** Demo rack: simulated devices of the families that are monitored directly, driven by a simulated show. */

import { commonScale, type PlayedDevice, type ReportedScale } from '../show/day-levels.ts'
import { createShow, type DeviceState, type ShowChannel } from '../show/show.ts'
import type { RackOptions } from '../show/simulator.ts'
import { type McpSimulator, startMcpSimulator } from './mcp.ts'
import { type Ssc1Simulator, startSsc1Simulator } from './ssc1.ts'
import { type Ssc2Simulator, startSsc2Simulator } from './ssc2.ts'
import { meters } from './ssc2-resources.ts'
import { startWsmSimulator, type WsmSimulator } from './wsm.ts'

interface RackDevice {
  readonly source: { readonly url: string; readonly name: string }
  /** Sets the state of the channels; `atMs` is the time since the show began. */
  update(channels: readonly ShowChannel[], atMs: number): void
  close(): Promise<void>
}

const password = 'stage-right-password'
const updateIntervalMs = 200

/**
 * Starts the rack and returns `devices` and `password` for a manufacturer record. With `includesOldest`, it also
 * contains a receiver without levels, an ew G3 with old firmware.
 */
export async function startSennheiserRack(options: RackOptions & { readonly includesOldest?: boolean }) {
  const { seed, firstPerformer, startedAt, copies = 1, includesOldest = false } = options
  const show = createShow({ seed, story: false, manufacturers: { sennheiser: 0 }, firstNumber: 301 })
  const rack: { id: string; device: RackDevice; reportedId: string; scale: ReportedScale }[] = []
  const close = async () => {
    clearInterval(timer)
    await Promise.all(rack.map(({ device }) => device.close()))
  }
  const updateAll = () => {
    const atMs = Date.now() - startedAt
    for (const { id, device } of rack) {
      const state: DeviceState | undefined = show.deviceAt(atMs, id)
      device.update(state?.channels ?? [], atMs)
    }
  }
  const timer = setInterval(updateAll, updateIntervalMs)
  try {
    const all = Array.from({ length: copies }, (_, copy) => [
      ...rackDevices(copy),
      ...(includesOldest ? [oldestDevice(copy)] : []),
    ]).flat()
    for (const [index, { channels, reportedId, scale, start }] of all.entries()) {
      const device = await start().catch(skipIfAddressUnavailable)
      if (device === null) continue
      const batteryType = scale.reportsMinutes ? 'lithium' : 'nimh'
      const id = show.add('sennheiser', { channels, firstPerformer: firstPerformer + 4 * index, batteryType })
      rack.push({ id, device, reportedId, scale })
    }
  } catch (error) {
    await close()
    throw error
  }
  updateAll()
  const setups = show.setups()
  const played = rack.flatMap(({ id, reportedId, scale }): PlayedDevice[] => {
    const setup = setups.find(({ device }) => device.id === id)
    if (setup === undefined) return []
    return [{ manufacturer: 'sennheiser', reportedIds: [reportedId], setup, scale, mutedChannels: [] }]
  })
  return { devices: rack.map(({ device }) => device.source), password, played, close }
}

/** Skips a device whose address is not available, because some operating systems have only one loopback address. */
function skipIfAddressUnavailable(error: NodeJS.ErrnoException): null {
  if (error.code === 'EADDRNOTAVAIL') return null
  throw error
}

interface RackUnit {
  readonly channels: number
  readonly reportedId: string
  /** The values that its update function sets. */
  readonly scale: ReportedScale
  start(): Promise<RackDevice>
}

function macOfDevice(copy: number, index: number): string {
  return `00:1B:66:30:${copy.toString(16).toUpperCase().padStart(2, '0')}:0${index}`
}

function oldestDevice(copy: number): RackUnit {
  const mac = macOfDevice(copy, 9)
  return {
    channels: 1,
    reportedId: `wsm:${mac}`,
    scale: { ...commonScale, rf: null, audio: null, battery: 'four-levels' },
    async start() {
      const device = await startWsmSimulator({ host: `127.0.${copy}.10`, mac })
      return toRackDevice('ew 300 G3', device, (channels) => updateWsm(device, channels))
    },
  }
}

/** Returns one device of each kind. Each has its own IP address, because an ew device has no other identity. */
function rackDevices(copy: number): readonly RackUnit[] {
  const hostOf = (index: number) => `127.0.${copy}.${index + 1}`
  const macOf = (index: number) => macOfDevice(copy, index)
  const serialOf = (index: number) => String(3_000_000_000 + 100 * copy + index)
  return [
    {
      channels: 1,
      reportedId: `mcp:${hostOf(1)}`,
      scale: { ...commonScale, rf: [-107, -5], audio: [-50, 0], peakAboveRms: 4, battery: 'four-levels' },
      async start() {
        const device = await startMcpSimulator({ host: hostOf(1) })
        return toRackDevice('ew 300 G4', device, (channels) => updateMcp(device, channels))
      },
    },
    {
      channels: 2,
      reportedId: `ssc1:${macOf(1)}`,
      scale: { ...commonScale, reportsMinutes: true, quality: 100 },
      async start() {
        const device = await startSsc1Simulator({ mac: macOf(1), host: hostOf(2) })
        device.set({ '/device/name': 'EW-DX EM 2' })
        return toRackDevice('EW-DX EM 2', device, (channels) => updateEwdx(device, channels))
      },
    },
    {
      channels: 2,
      reportedId: `ssc1:${macOf(2)}`,
      scale: { ...commonScale, battery: 'four-levels', quality: 100 },
      async start() {
        const device = await startSsc1Simulator({ model: 'EM6000', mac: macOf(2), host: hostOf(3) })
        device.set({ '/device/name': 'EM 6000' })
        return toRackDevice('EM 6000', device, (channels) => updateD6000(device, channels))
      },
    },
    {
      channels: 4,
      reportedId: `sscv2:${serialOf(3)}`,
      scale: { ...commonScale, reportsMinutes: true, quality: 98 },
      async start() {
        const product = 'EWDX4CHDS' as const
        const device = await startSsc2Simulator({ product, serial: serialOf(3), password, host: hostOf(4) })
        device.set('/api/device/site', { deviceName: 'EW-DX EM 4 Dante' })
        return toRackDevice('EW-DX EM 4 Dante', device, (channels) => updateSsc2(device, channels))
      },
    },
    {
      channels: 3,
      reportedId: `sscv2:${serialOf(4)}`,
      scale: { ...commonScale, peakAboveRms: 3, reportsMinutes: true, quality: 100 },
      async start() {
        const product = 'Spectera Base Station' as const
        const device = await startSsc2Simulator({ product, serial: serialOf(4), password, host: hostOf(5) })
        device.set('/api/device/site', { deviceName: 'Spectera' })
        return toRackDevice('Spectera', device, (channels) => updateSpectera(device, channels))
      },
    },
    {
      channels: 0,
      reportedId: `ssc1:${macOf(5)}`,
      scale: commonScale,
      async start() {
        const device = await startSsc1Simulator({ model: 'CHG70N', mac: macOf(5), host: hostOf(6) })
        device.set({ '/device/name': 'CHG 70N' })
        return toRackDevice('CHG 70N', device, (_, atMs) => updateCharger(device, atMs, 1_054_000_123 + copy))
      },
    },
  ]
}

function toRackDevice(
  name: string,
  device: Pick<RackDevice, 'close'> & { url: string },
  update: RackDevice['update'],
): RackDevice {
  return { source: { url: device.url, name }, update, close: () => device.close() }
}

function updateMcp(device: McpSimulator, [channel]: readonly ShowChannel[]): void {
  if (channel === undefined) return
  const { transmitter } = channel
  const rf = Math.round(((rfOf(channel) ?? -107) + 107) / 0.4)
  const af = Math.max(0, Math.round(((audioOf(channel) ?? -50) + 50) / 0.5))
  device.set({
    name: channel.name,
    frequencyKhz: kHz(channel),
    rf: [Math.max(0, rf), Math.max(0, rf - 12)],
    af,
    afPeak: Math.min(100, af + 8),
    battery: transmitter === null ? '?' : toFourSteps(transmitter.battery),
    hasPilot: transmitter !== null,
  })
}

function updateWsm(device: WsmSimulator, [channel]: readonly ShowChannel[]): void {
  if (channel === undefined) return
  const { transmitter } = channel
  const battery = transmitter === null ? 0 : 1 + ['0', '30', '70', '100'].indexOf(toFourSteps(transmitter.battery))
  device.set({ name: channel.name.slice(0, 8), frequencyKhz: kHz(channel), battery })
}

function updateEwdx(device: Ssc1Simulator, channels: readonly ShowChannel[]): void {
  for (const channel of channels) {
    const { channel: n, transmitter } = channel
    device.setLinked(n, transmitter !== null)
    device.set({
      [`/rx${n}/name`]: channel.name,
      [`/rx${n}/frequency`]: kHz(channel),
      [`/m/rx${n}/rssi`]: rfOf(channel),
      [`/m/rx${n}/af`]: audioOf(channel),
      [`/mates/tx${n}/name`]: transmitter?.name,
      [`/mates/tx${n}/battery/gauge`]: transmitter?.battery,
      [`/mates/tx${n}/battery/lifetime`]: transmitter?.minutes_left,
    })
  }
}

function updateD6000(device: Ssc1Simulator, channels: readonly ShowChannel[]): void {
  for (const channel of channels) {
    const { channel: n, transmitter } = channel
    const state = transmitter === null ? [] : [`${toFourSteps(transmitter.battery)}%`.replace(/^0%$/, 'low'), '-:--']
    device.set({
      [`/rx${n}/name`]: channel.name,
      [`/rx${n}/carrier`]: kHz(channel),
      [`/rx${n}/active_warnings`]: transmitter === null ? ['NoLink'] : [],
      [`/rx${n}/skx/battery`]: state,
      [`/rx${n}/skx/name`]: transmitter?.name ?? '',
    })
  }
  const rows = channels.map((channel) => {
    const rf = Math.max(0, Math.round(2 * (rfOf(channel) ?? -127) + 255))
    const af = Math.max(0, Math.round(2 * ((audioOf(channel) ?? -127) + 128) - 1))
    return [rf, 0, Math.max(0, rf - 14), 0, 1, Number(rf > 120), Math.min(255, 2 * rf), af, 0]
  })
  device.set({ '/mm': rows })
}

function updateSsc2(device: Ssc2Simulator, channels: readonly ShowChannel[]): void {
  for (const channel of channels) {
    const index = channel.channel - 1
    const { transmitter } = channel
    device.setLinked(channel.channel, transmitter !== null)
    device.set(`/api/channel/${index}`, { name: channel.name })
    device.set(`/api/rf/channels/${index}`, { frequency: kHz(channel) })
    device.set(`/api/channel/${index}/signalStrengthIndicator`, { value: rfOf(channel) })
    device.set(`/api/channel/${index}/level`, { value: audioOf(channel) })
    if (transmitter === null) continue
    const { name, battery, minutes_left } = transmitter
    device.set(`/api/transmitters/${index}`, { name })
    device.set(`/api/transmitters/${index}/battery`, { gauge: battery, lifetime: minutes_left })
  }
}

function updateSpectera(device: Ssc2Simulator, channels: readonly ShowChannel[]): void {
  const packs = channels.map(({ channel, name, transmitter }) => ({
    ...{ mtUid: channel, type: 'SEK', name, serial: '0000000000', rfChannelId: 0 },
    ...{ state: transmitter === null ? 'Disconnected' : 'Connected', rssi: transmitter?.rf_level ?? -107 },
    ...{ batteryFillLevel: transmitter?.battery ?? -1, batteryRuntime: transmitter?.minutes_left ?? -1 },
    ...{ micLqi: transmitter === null ? 0 : 4, iemLqi: 0, dominantAntenna: 'a' },
    ...{ micAudiolinkId: channel - 1, iemAudiolinkId: -1, micPreampGain: 0 },
  }))
  const listener = { mtUid: 100, name: 'IEM 1', state: 'Connected', batteryFillLevel: 88, batteryRuntime: 390 }
  const listening = { type: 'SEK', serial: '3100000100', micAudiolinkId: -1, iemAudiolinkId: 40, iemLqi: 4 }
  device.set('/api/mts/paired/all', [...packs, { ...listener, ...listening }])
  device.set(
    '/api/audio/outputs',
    channels.map((_, index) => ({ outputId: index, micAudiolinkId: index })),
  )
  const levels = channels.map((channel) => audioOf(channel) ?? -127.5)
  device.set('/api/audio/metering', meters(levels.map((rms) => ({ rms, peak: Math.min(0, rms + 3) }))))
}

/** Charges one pack from 37% to 100% in 75 minutes; the other bay is empty. */
function updateCharger(device: Ssc1Simulator, atMs: number, serial: number): void {
  const minutesToFull = Math.max(0, 75 - Math.floor(atMs / 60_000))
  const gauge = 100 - Math.ceil(minutesToFull / 1.2)
  device.dock(1, { type: 'EW-DX SK', serial: String(serial), gauge, minutesToFull })
}

function rfOf({ transmitter, rf_level }: ShowChannel): number | null {
  return transmitter?.rf_level ?? rf_level
}

function audioOf({ transmitter, audio_level }: ShowChannel): number | null {
  return transmitter?.audio_level ?? audio_level
}

function kHz({ frequency }: ShowChannel): number {
  return Math.round((Number(frequency) * 1000) / 25) * 25
}

/** Returns the battery level as reported by devices that distinguish only four steps. */
function toFourSteps(percent: number): string {
  if (percent > 85) return '100'
  if (percent > 50) return '70'
  return percent > 15 ? '30' : '0'
}
