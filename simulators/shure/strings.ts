/**
 * Simulates a Shure receiver with command strings, as documented by Shure and observed in the field. Frames are split,
 * meters are off until a client starts them, and each family supports its own keys. UHF-R uses UDP. MXW is silent while
 * its microphones are off.
 */

import type { PlayedDevice } from '../show/day-levels.ts'
import type { ChannelChange, DeviceState, Show } from '../show/show.ts'
import { createShow } from '../show/show.ts'
import type { Silence } from '../show/silence.ts'
import type { RackOptions } from '../show/simulator.ts'
import type { Controller, SimulatedDevice, StringsFault } from './strings/controller.ts'
import { listenTcp, listenUdp } from './strings/listeners.ts'
import { type ChannelOverrides, reportedScales, type SimulatedFamily, toValues } from './strings/values.ts'

export interface StringsSimulatorOptions {
  readonly family: SimulatedFamily
  /** A shared show, in which `id` is the device. Default: a separate show. */
  readonly show?: Show
  readonly id?: string
  readonly channels?: number
  readonly name?: string
  /** Index of the performer on the device's first channel. */
  readonly firstPerformer?: number
  /** 0 (default): a free port. */
  readonly port?: number
  /** Maximum number of concurrent connections; further connections are closed. */
  readonly maxClients?: number
  /** Sends frames byte by byte. */
  readonly splitsFrames?: boolean
  /** True if the device has been on for a while, so that it reports battery runtimes. */
  readonly isWarm?: boolean
  /** The reported model. Default: the family's usual model. */
  readonly model?: string
  /** Keys that its firmware does not support. */
  readonly unknownKeys?: readonly string[]
  readonly hasFailedSelfTest?: boolean
  readonly startedAt?: number
}

export interface StringsSimulator {
  readonly family: SimulatedFamily
  /** `tcp://127.0.0.1:…` or `udp://…`. */
  readonly url: string
  readonly state: DeviceState
  /** Received commands in order. */
  readonly commands: readonly string[]
  /** The channels whose lights flash; null stands for the whole device. */
  readonly flashing: ReadonlySet<number | null>
  /** Number of connected clients; over UDP, the number of clients that have switched meters on. */
  readonly clients: number
  /** True if a QLX-D has locked up because a client disconnected during metering. It then no longer responds. */
  readonly isLockedUp: boolean
  setFault(fault: StringsFault | null): void
  setSilence(silence: Silence | null): void
  change(channel: number, change: ChannelChange & ChannelOverrides): void
  /** Closes all connections. */
  disconnectAll(): void
  close(): Promise<void>
}

const models: Readonly<Record<SimulatedFamily, readonly [model: string, device_type: string, channels: number]>> = {
  ulxd: ['ULXD4Q', 'ulxd', 4],
  qlxd: ['QLXD4', 'qlxd', 1],
  slxd: ['SLXD4D', 'slxd', 2],
  'slxd+': ['SLXD4D+', 'slxd', 2],
  ad: ['AD4Q-A', 'ad', 4],
  anx4: ['ANX4', 'ad', 8],
  psm1000: ['P10T', 'psm1000', 2],
  uhfr: ['UR4D', 'uhfr', 2],
  mxw: ['MXWAPT4', 'mxw', 4],
  mxwnext: ['MXWAPX4', 'mxw', 4],
}

const reportIntervalMs = 100

export async function startStringsSimulator(options: StringsSimulatorOptions): Promise<StringsSimulator> {
  const { family, isWarm = true, startedAt = Date.now(), maxClients = Number.POSITIVE_INFINITY } = options
  const show = options.show ?? createShow({ story: false, manufacturers: { shure: 0 } })
  const [defaultModel, device_type, channels] = models[family]
  const { model = defaultModel, unknownKeys = [] } = options
  const id =
    options.id ??
    show.add('shure', {
      ...{ model, device_type, channels: options.channels ?? channels },
      ...(options.firstPerformer !== undefined && { firstPerformer: options.firstPerformer }),
      ...(options.name !== undefined && { name: options.name }),
    })
  const switchedOnAt = Date.now()
  const overrides = new Map<number, ChannelOverrides>()
  const commands: string[] = []
  const controllers = new Set<Controller>()
  const flashing = new Set<number | null>()
  let fault: StringsFault | null = null
  let silence: Silence | null = null
  let isLockedUp = false

  const state = (): DeviceState => {
    const state = show.deviceAt(Date.now() - startedAt, id)
    if (state === undefined) throw new RangeError(`The show has no device ${id}.`)
    return state
  }
  const device: SimulatedDevice = {
    family,
    state,
    values: () => {
      const values = toValues(family, state(), {
        uptimeMs: isWarm ? 60_000 : Date.now() - switchedOnAt,
        overridesByChannel: overrides,
      })
      const supported = Object.entries(values.device).filter(([key]) => !unknownKeys.includes(key))
      const device = Object.fromEntries(supported)
      if (options.hasFailedSelfTest && device.FW_VER) device.FW_VER = device.FW_VER.replace(/^\{(\S+) /, '{$1*')
      return { ...values, device }
    },
    overridesOf: (channel) => overrides.get(channel) ?? {},
    isSilentChannel(channel) {
      const { isSilent, neverPaired } = overrides.get(channel) ?? {}
      return isSilent === true || neverPaired === true
    },
    recordCommand: (command) => void commands.push(command),
    flash: (channel, isOn) => void (isOn ? flashing.add(channel) : flashing.delete(channel)),
    fault: () => fault,
    silence: () => silence,
    isUnresponsive: () => isLockedUp || !state().online,
  }
  const listenerOptions = { device, controllers, port: options.port ?? 0 }
  const onDisconnect = ({ isMetering }: Controller) => {
    // Firmware 2.2.11 and later locks up if a client disconnects without stopping the meters.
    if (family === 'qlxd' && isMetering) isLockedUp = true
  }
  const { splitsFrames = false } = options
  const listener =
    family === 'uhfr'
      ? await listenUdp(listenerOptions)
      : await listenTcp({ ...listenerOptions, maxClients, splitsFrames, onDisconnect })
  const reportTimer = setInterval(() => {
    for (const controller of controllers) controller.reportChanges()
  }, reportIntervalMs)

  return {
    family,
    url: `${family === 'uhfr' ? 'udp' : 'tcp'}://127.0.0.1:${listener.port}`,
    get state() {
      return state()
    },
    commands,
    flashing,
    get clients() {
      return [...controllers].filter((controller) => family !== 'uhfr' || controller.isMetering).length
    },
    get isLockedUp() {
      return isLockedUp
    },
    setFault(next) {
      fault = next
    },
    setSilence(next) {
      silence = next
    },
    change(
      channel,
      { muted, transmitterMuted, encryptionError, interference, neverPaired, isSilent, ...otherOverrides },
    ) {
      const { batteryCodes, secondCarrier, overload, spare, isOnCharger, raw, ...change } = otherOverrides
      const channelOverrides = { muted, encryptionError, interference, neverPaired, isSilent, secondCarrier }
      const all = { ...channelOverrides, transmitterMuted, batteryCodes, overload, spare, isOnCharger, raw }
      const defined = Object.entries(all).filter(([, value]) => value !== undefined)
      overrides.set(channel, { ...overrides.get(channel), ...Object.fromEntries(defined) })
      show.set(id, change, channel)
    },
    disconnectAll: listener.disconnectAll,
    async close() {
      clearInterval(reportTimer)
      await listener.close()
    },
  }
}

/** The muted channels of the rack. */
const mutedAllDay = [
  { family: 'ulxd', channel: 2, by: 'receiver' },
  { family: 'qlxd', channel: 1, by: 'transmitter' },
] as const

/** The first port of the rack. A device without a serial number or MAC address is identified by its address and port. */
const rackPort = 25_470

/** ANX4 is omitted, because it behaves like Axient Digital. */
const stageFamilies = ['ulxd', 'qlxd', 'slxd', 'slxd+', 'ad', 'psm1000', 'uhfr'] as const
const roomFamilies = ['mxw', 'mxwnext'] as const

/**
 * Starts devices of every stage family, and, with `includesRooms`, of those for meeting rooms. One channel is muted,
 * one has a muted transmitter, one has an encryption error, and one has a spare transmitter.
 */
export async function startStringsRack(options: RackOptions & { readonly includesRooms?: boolean }) {
  const { seed, firstPerformer, startedAt, copies = 1, includesRooms = false } = options
  const show = createShow({ seed, story: false, manufacturers: { shure: 0 }, firstNumber: 301 })
  const kinds: readonly SimulatedFamily[] = includesRooms ? [...stageFamilies, ...roomFamilies] : stageFamilies
  const families = Array.from({ length: copies }, () => kinds).flat()
  const rack: StringsSimulator[] = []
  for (const [index, family] of families.entries()) {
    const [model, device_type, channels] = models[family]
    const device = { name: model, model, device_type, channels, firstPerformer: firstPerformer + 4 * index }
    const batteryType = reportedScales[family].battery === 'bars' ? 'alkaline' : 'lithium'
    const id = show.add('shure', { ...device, batteryType })
    const start = (port: number) => startStringsSimulator({ family, show, id, startedAt, port })
    // Another demo may use the port.
    rack.push(await start(rackPort + index).catch(() => start(0)))
  }
  const change = (family: SimulatedFamily, channel: number, change: ChannelOverrides) =>
    rack.find((device) => device.family === family)?.change(channel, change)
  for (const { family, channel, by } of mutedAllDay)
    change(family, channel, by === 'receiver' ? { muted: true } : { transmitterMuted: true })
  change('ad', 3, { encryptionError: true })
  change('ad', 1, { spare: { name: 'SPARE 1', battery: 87 } })
  return {
    devices: rack.map(({ url, family }) => ({ url, name: models[family][0] })),
    played: show.setups().flatMap((setup, index): PlayedDevice[] => {
      const { family, url } = rack[index] ?? {}
      if (family === undefined) return []
      const reportedIds = [`strings:${setup.device.mac_address}`, `strings:${url?.replace(/^\w+:\/\//, '')}`]
      const mutedChannels = mutedAllDay.filter((muted) => muted.family === family).map(({ channel }) => channel)
      return [{ manufacturer: 'shure', reportedIds, setup, scale: reportedScales[family], mutedChannels }]
    }),
    close: async () => {
      await Promise.all(rack.map((device) => device.close()))
    },
  }
}
