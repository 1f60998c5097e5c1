/**
 * One Shure receiver that speaks command strings, as its papers describe it and as people met it: frames that arrive in
 * pieces, meters that are off until somebody asks, families that do not know each other's words. UHF-R speaks UDP.
 */

import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { ChannelChange, DeviceState, Show } from '../../../simulation/show.ts'
import { createShow } from '../../../simulation/show.ts'
import { cutAngles, cutStars } from './frames.ts'
import { createPeer, type Peer, type PeerDevice, type StringsFault } from './simulator/peer.ts'
import { type Extra, type SimulatedFamily, wordsOf } from './simulator/words.ts'

export interface StringsSimulatorOptions {
  readonly family: SimulatedFamily
  /** A show to share, and which of its devices this is; else one of its own. */
  readonly show?: Show
  readonly id?: string
  readonly channels?: number
  readonly name?: string
  /** Which of the company stand on its channels. */
  readonly firstPlace?: number
  /** 0 (default): a free one. */
  readonly port?: number
  /** So many may be connected at a time; the next one is cut off. */
  readonly maxClients?: number
  /** Frames go out byte by byte. */
  readonly isChopped?: boolean
  /** Has been on for a while: knows how long batteries last. */
  readonly isWarm?: boolean
  /** What it calls itself, if it is not the family's usual model. */
  readonly model?: string
  /** Keys that its firmware does not know. */
  readonly unknownKeys?: readonly string[]
  /** Its self-test has failed. */
  readonly hasFailedSelfTest?: boolean
  readonly startedAt?: number
}

export interface StringsSimulator {
  readonly family: SimulatedFamily
  /** `tcp://127.0.0.1:…` or `udp://…`. */
  readonly url: string
  readonly state: DeviceState
  /** Commands it got, in their order. */
  readonly commands: readonly string[]
  /** Whoever is connected, or gets meters. */
  readonly clients: number
  /** A QLX-D whose listener vanished while it metered: nothing works any more until it is switched off. */
  readonly isLockedUp: boolean
  setFault(fault: StringsFault | null): void
  change(channel: number, change: ChannelChange & Extra): void
  /** Cuts everybody off. */
  cut(): void
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
}

const beatMs = 100

export async function startStringsSimulator(options: StringsSimulatorOptions): Promise<StringsSimulator> {
  const { family, isWarm = true, startedAt = Date.now(), maxClients = Number.POSITIVE_INFINITY } = options
  const show = options.show ?? createShow({ story: false, manufacturers: { shure: 0 } })
  const [usualModel, device_type, channels] = models[family]
  const { model = usualModel, unknownKeys = [] } = options
  const id =
    options.id ??
    show.add('shure', {
      ...{ model, device_type, channels: options.channels ?? channels },
      ...(options.firstPlace !== undefined && { firstPlace: options.firstPlace }),
      ...(options.name !== undefined && { name: options.name }),
    })
  const switchedOnAt = Date.now()
  const extras = new Map<number, Extra>()
  const commands: string[] = []
  const peers = new Set<Peer>()
  let fault: StringsFault | null = null
  let isLockedUp = false

  const state = (): DeviceState => {
    const found = show.deviceAt(Date.now() - startedAt, id)
    if (found === undefined) throw new RangeError(`The show has no device ${id}.`)
    return found
  }
  const device: PeerDevice = {
    family,
    state,
    words: () => {
      const told = wordsOf(family, state(), { uptimeMs: isWarm ? 60_000 : Date.now() - switchedOnAt, extras })
      const known = Object.entries(told.device).filter(([key]) => !unknownKeys.includes(key))
      const device = Object.fromEntries(known)
      if (options.hasFailedSelfTest && device.FW_VER) device.FW_VER = device.FW_VER.replace(/^\{(\S+) /, '{$1*')
      return { ...told, device }
    },
    isQuiet(channel) {
      const extra = extras.get(channel)
      return extra?.isSilent === true || extra?.neverPaired === true
    },
    note: (command) => void commands.push(command),
    fault: () => fault,
    isDead: () => isLockedUp || !state().online,
  }
  const beat = setInterval(() => {
    for (const peer of peers) peer.beat()
  }, beatMs)
  const door = family === 'uhfr' ? await openUdp() : await openTcp()

  async function openTcp(): Promise<Door> {
    const server: Server = createServer((socket) => {
      socket.on('error', () => {})
      if (peers.size >= maxClients) return socket.destroy()
      serve(socket)
    })
    const sockets = new Set<Socket>()
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    server.listen(options.port ?? 0, '127.0.0.1')
    await once(server, 'listening')
    const cut = () => {
      for (const socket of sockets) socket.destroy()
    }
    return {
      port: (server.address() as AddressInfo).port,
      cut,
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve())
          cut()
        }),
    }
  }

  function serve(socket: Socket): void {
    const write = (text: string) => {
      if (!options.isChopped) return void socket.write(text)
      for (const character of text) socket.write(character)
    }
    const peer = createPeer(device, write)
    let rest = ''
    peers.add(peer)
    socket.on('data', (bytes) => {
      const cut = cutAngles(rest + String(bytes))
      rest = cut.rest
      for (const message of cut.messages) peer.hear(message.trim())
    })
    socket.on('close', () => {
      // Firmware 2.2.11 and later: whoever meters must say so before leaving.
      if (family === 'qlxd' && peer.isMetering) isLockedUp = true
      peer.close()
      peers.delete(peer)
    })
  }

  async function openUdp(): Promise<Door> {
    const socket = createSocket('udp4')
    const known = new Map<string, Peer>()
    let isClosed = false
    socket.on('error', () => {})
    socket.on('message', (bytes, from) => {
      for (const message of cutStars(String(bytes))) peerAt(from).hear(message.trim())
    })
    socket.bind(options.port ?? 0, '127.0.0.1')
    await once(socket, 'listening')

    /** Nobody leaves over UDP: whoever does not meter any more is forgotten. */
    function peerAt(from: RemoteInfo): Peer {
      const name = `${from.address}:${from.port}`
      const peer = known.get(name) ?? createPeer(device, (text) => socket.send(text, from.port, from.address))
      known.set(name, peer)
      peers.add(peer)
      return peer
    }

    const cut = () => {
      for (const peer of known.values()) peer.close()
      known.clear()
      peers.clear()
    }
    return {
      port: socket.address().port,
      cut,
      close: async () => {
        cut()
        if (!isClosed) socket.close()
        isClosed = true
      },
    }
  }

  return {
    family,
    url: `${family === 'uhfr' ? 'udp' : 'tcp'}://127.0.0.1:${door.port}`,
    get state() {
      return state()
    },
    commands,
    get clients() {
      return [...peers].filter((peer) => family !== 'uhfr' || peer.isMetering).length
    },
    get isLockedUp() {
      return isLockedUp
    },
    setFault(next) {
      fault = next
    },
    change(channel, { muted, transmitterMuted, encryptionError, interference, neverPaired, isSilent, ...more }) {
      const { batteryCodes, secondCarrier, ...change } = more
      const ofChannel = { muted, encryptionError, interference, neverPaired, isSilent, secondCarrier }
      const extra = { ...ofChannel, transmitterMuted, batteryCodes }
      const told = Object.entries(extra).filter(([, value]) => value !== undefined)
      extras.set(channel, { ...extras.get(channel), ...Object.fromEntries(told) })
      show.set(id, change, channel)
    },
    cut: door.cut,
    async close() {
      clearInterval(beat)
      await door.close()
    },
  }
}

/** One receiver of every family, for a demo: some muted, one with the wrong key. An ANX4 speaks as Axient Digital does. */
export async function startStringsRack(seed: number, firstPlace: number) {
  const show = createShow({ seed, story: false, manufacturers: { shure: 0 }, firstNumber: 301 })
  const families = (Object.keys(models) as SimulatedFamily[]).filter((family) => family !== 'anx4')
  const rack: StringsSimulator[] = []
  for (const [at, family] of families.entries()) {
    rack.push(await startStringsSimulator({ family, show, name: models[family][0], firstPlace: firstPlace + 4 * at }))
  }
  const change = (family: SimulatedFamily, channel: number, extra: Extra) =>
    rack.find((one) => one.family === family)?.change(channel, extra)
  change('ulxd', 2, { muted: true })
  change('qlxd', 1, { transmitterMuted: true })
  change('ad', 3, { encryptionError: true })
  return {
    devices: rack.map(({ url, family }) => ({ url, name: models[family][0] })),
    close: async () => {
      await Promise.all(rack.map((device) => device.close()))
    },
  }
}

interface Door {
  readonly port: number
  cut(): void
  close(): Promise<void>
}
