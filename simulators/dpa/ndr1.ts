/**
 * Simulates N-DR1 receivers with OSC over TCP, as public programs read them. A query is a message without arguments;
 * its answer has the same address and values. A subscription repeats the answer. Settings are sent on request only. A
 * client with the other framing receives no answer.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type OscArgInput, toBuffer } from 'osc-min'
import { type Framing, formatPackets, parsePacket, splitPackets } from '../../src/manufacturers/dpa/codec.ts'
import type { ChannelChange, DeviceState, Show, ShowChannel } from '../show/show.ts'
import { isSilenced, type SentValue, type Silence } from '../show/silence.ts'
import { createShowContext, type SimulatorOptions } from '../show/simulator.ts'

export interface DpaSimulatorOptions
  extends Pick<SimulatorOptions, 'show' | 'seed' | 'receivers' | 'story' | 'startedAt'> {
  /** Default `length`. */
  readonly framing?: Framing
}

export interface DpaSimulator {
  /** `tcp://127.0.0.1:…` of every receiver. */
  readonly urls: readonly string[]
  readonly config: { readonly devices: readonly string[] }
  readonly show: Show
  readonly clients: number
  /** Addresses of received messages, in order. */
  readonly received: readonly string[]
  /** `silent`: OSC over TCP is off; `foreign`: another protocol; `noise`: malformed packets between valid ones. */
  setFault(fault: 'silent' | 'foreign' | 'noise' | null): void
  /** Replaces the arguments of an address on all receivers. With null, they do not answer it. */
  override(address: string, args: Arguments | null): void
  setSilence(silence: Silence | null): void
  /** Changes a channel of the first receiver. */
  change(
    channel: number,
    change: ChannelChange & { readonly muted?: boolean; readonly hasInterference?: boolean },
  ): void
  close(): Promise<void>
}

type Arguments = readonly (string | number)[]

export async function startDpaSimulator(options: DpaSimulatorOptions = {}): Promise<DpaSimulator> {
  const { framing = 'length' } = options
  const { show, elapsed } = createShowContext('dpa', 1, options)
  const received: string[] = []
  const sockets = new Set<Socket>()
  const muted = new Set<number>()
  const interfered = new Set<number>()
  const overrides = new Map<string, Arguments | null>()
  let fault: Parameters<DpaSimulator['setFault']>[0] = null
  let silence: Silence | null = null
  const ids = show.devicesAt(elapsed(), 'dpa').map(({ device }) => device.id)
  const servers = ids.map((id) => createServer((socket) => serve(socket, id)))

  function serve(socket: Socket, id: string): void {
    const timers = new Map<string, NodeJS.Timeout>()
    const read = (address: string) => {
      const args = overrides.get(address)
      if (args !== undefined) return args ?? undefined
      return readValue(address, show.deviceAt(elapsed(), id), { muted, interfered })
    }
    const send = (all: readonly (readonly [address: string, args: Arguments])[]) => {
      const messages = all.filter(([address]) => !isSilenced(silence, kindOf(address)))
      if (fault === 'silent' || messages.length === 0) return
      const packets = messages.map(([address, args]) => encode(address, args))
      if (fault === 'noise') packets.unshift(Buffer.from('junk'))
      socket.write(fault === 'foreign' ? 'HTTP/1.1 400 Bad Request\r\n\r\n' : formatPackets(packets, framing), 'latin1')
    }
    const answer = (address: string) => {
      const args = read(address)
      if (args !== undefined) send([[address, args]])
    }
    sockets.add(socket)
    const heartbeat = setInterval(() => send([['/heartbeat', []]]), 1_000)
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket)
        clearInterval(heartbeat)
        for (const timer of timers.values()) clearInterval(timer)
      })
    let rest = ''
    socket.on('data', (bytes) => {
      // No length begins with the first byte of a SLIP packet.
      if ((bytes[0] === 0xc0) !== (framing === 'slip') && rest === '') return
      const packets = splitPackets(rest + bytes.toString('latin1'))
      rest = packets.rest
      for (const packet of packets.messages) receive(packet)
    })

    function receive(packet: string): void {
      for (const { address, args } of parsePacket(packet) ?? []) {
        received.push(address)
        if (address === '/subscribe') subscribe(Number(args[0]), subscribedAddress(packet))
        else if (address === '/settings/retrieve') send(settings(read))
        else answer(address)
      }
    }
    function subscribe(intervalMs: number, address: string): void {
      clearInterval(timers.get(address))
      answer(address)
      timers.set(
        address,
        setInterval(() => answer(address), intervalMs),
      )
    }
  }

  await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')))
  const urls = servers.map((server) => `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const toggle = (set: Set<number>, channel: number, isOn: boolean | undefined) => {
    if (isOn !== undefined) isOn ? set.add(channel) : set.delete(channel)
  }
  return {
    urls,
    config: { devices: urls },
    show,
    get clients() {
      return sockets.size
    },
    received,
    setFault(next) {
      fault = next
    },
    override(address, args) {
      overrides.set(address, args)
    },
    setSilence(next) {
      silence = next
    },
    change(channel, { muted: isMuted, hasInterference, ...change }) {
      toggle(muted, channel, isMuted)
      toggle(interfered, channel, hasInterference)
      show.set(ids[0] ?? '', change, channel)
    },
    close: async () => {
      await Promise.all(
        servers.map(
          (server) =>
            new Promise<void>((resolve) => {
              server.close(() => resolve())
              for (const socket of sockets) socket.destroy()
            }),
        ),
      )
    },
  }
}

function kindOf(address: string): SentValue {
  const [, channel] = /\/(\d)\//.exec(address) ?? []
  return {
    isLevel: /\/(?:audiolevel|rfstrength)$/.test(address),
    channel: channel === undefined ? null : Number(channel),
  }
}
const channelWarnings = ['interference', 'afoverload', 'antennashorted']
const deviceWarnings = ['hightemp', 'criticaltemp', 'fan', 'rfoverload']

function settings(read: (address: string) => Arguments | undefined): (readonly [string, Arguments])[] {
  const ofChannels = [1, 2].flatMap((channel) => [
    ...['name', 'rx/mute'].map((name) => `/ch/${channel}/${name}`),
    ...['txdropout', 'lowbattery', ...channelWarnings].map((name) => `/warning/${channel}/${name}`),
  ])
  const ofDevice = deviceWarnings.map((name) => `/warning/${name}`)
  return ['/advanced/lan/name', ...ofChannels, ...ofDevice].flatMap((address) => {
    const args = read(address)
    return args === undefined ? [] : [[address, args] as const]
  })
}

function readValue(
  address: string,
  state: DeviceState | undefined,
  { muted, interfered }: { readonly muted: ReadonlySet<number>; readonly interfered: ReadonlySet<number> },
): Arguments | undefined {
  if (state === undefined) return undefined
  const { device, channels } = state
  if (address === '/model') return [device.model ?? '']
  if (address === '/serial') return [device.serial_number ?? '']
  if (address === '/advanced/lan/name') return [device.name]
  if (deviceWarnings.some((name) => address === `/warning/${name}`)) return [0]
  const [, prefix, number, name] = /^\/(ch|advanced|warning)\/([12])\/(.+)$/.exec(address) ?? []
  const channel = channels.find((candidate) => candidate.channel === Number(number))
  if (channel === undefined) return undefined
  if (`${prefix}/${name}` === 'warning/interference') return [Number(interfered.has(channel.channel))]
  if (`${prefix}/${name}` === 'ch/rx/mute') return [Number(muted.has(channel.channel))]
  return channelValue(`${prefix}/${name}`, channel)
}

function channelValue(name: string, { transmitter, ...channel }: ShowChannel): Arguments | undefined {
  const rf = transmitter?.rf_level ?? channel.rf_level ?? -118
  switch (name) {
    case 'ch/name':
      return [channel.name.slice(0, 6)]
    case 'ch/audiolevel':
      return [10 * (transmitter?.audio_level ?? channel.audio_level ?? -126)]
    case 'advanced/antenna/rfstrength':
      return [0, 10 * rf, 10 * (rf - 4)]
    case 'ch/tx/active':
      return [Number(transmitter !== null)]
    case 'ch/tx/name':
      return [transmitter?.name ?? '']
    case 'ch/tx/batterystatus':
      return transmitter === null ? [0, 65_535, 0, 0, 0] : [transmitter.battery, transmitter.minutes_left, 98, 0, 0]
    case 'warning/afoverload':
    case 'warning/antennashorted':
      return [0]
    case 'warning/txdropout':
      return [Number(transmitter === null)]
    case 'warning/lowbattery':
      return [Number(transmitter !== null && transmitter.battery <= 15)]
    default:
      return undefined
  }
}

function encode(address: string, args: Arguments): Uint8Array {
  const typed = args.map(
    (value): OscArgInput =>
      typeof value === 'number' ? { type: 'integer', value: Math.round(value) } : { type: 'string', value },
  )
  const { buffer, byteOffset, byteLength } = toBuffer({ address, args: typed })
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Returns the address of the query in a subscription, which is a blob after its two numbers. */
function subscribedAddress(packet: string): string {
  return /\/(?:ch|advanced)\/[\w/]+/.exec(packet.slice('/subscribe'.length))?.[0] ?? ''
}
