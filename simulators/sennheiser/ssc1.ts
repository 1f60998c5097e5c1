/**
 * Simulates an SSC 1 device on a real socket: an EW-DX with two or four channels, an EM 6000, a SpeechLine receiver or
 * a charger. It replies to the source port, ends subscriptions by lifetime and count with error 310, and accepts eight
 * clients. It rejects addresses of an unlinked transmitter with error 424 next to valid values, and rounds numbers to
 * their steps. An EM 6000 also scans the spectrum.
 */

import { isRecord } from '../../src/domain/json.ts'
import { isSilenced, type SentValue, type Silence } from '../show/silence.ts'
import { openSimulatedUdpSocket, type Peer, type SimulatedUdpSocket, type UdpSocketOptions } from './simulated-udp.ts'
import { SimulatedScan, type SimulatedScanOptions } from './ssc1-scan.ts'
import { bayValues, createInitialValues, type DockedPack, linkValues, type SscModel } from './ssc1-values.ts'

export interface Ssc1SimulatorOptions extends UdpSocketOptions, SimulatedScanOptions {
  readonly model?: SscModel
  readonly values?: Readonly<Record<string, unknown>>
  readonly mac?: string
  /** Maximum number of clients with subscriptions (default 8). */
  readonly maxClients?: number
}

export interface Ssc1Simulator {
  readonly url: string
  readonly udp: SimulatedUdpSocket
  readonly subscriptions: number
  /** True while it scans, and receives nothing. */
  readonly isScanning: boolean
  /** Returns the current value of an address. */
  value(address: string): unknown
  /** Changes values as if at the front panel, and notifies subscribers. */
  set(values: Readonly<Record<string, unknown>>): void
  /** Switches the transmitter of a channel on or off. */
  setLinked(channel: number, isLinked: boolean): void
  /** Puts a pack into a bay of a CHG 70N, CHG 2N or CHG 4N; null removes it. */
  dock(bay: number, pack: DockedPack | null): void
  setSilence(silence: Silence | null): void
  /** Sends this text unchanged to every subscriber. */
  send(text: string): void
  close(): Promise<void>
}

interface Tree {
  [name: string]: unknown
}

interface Subscription {
  readonly peer: Peer
  readonly addresses: readonly string[]
  readonly lifetime: NodeJS.Timeout
  readonly timer: NodeJS.Timeout | null
  remaining: number
}

type SscErrorReply = readonly [code: number, error: { readonly desc: string }]
const notFound: SscErrorReply = [404, { desc: 'address not found' }]
const failedDependency: SscErrorReply = [424, { desc: 'failed dependency' }]
const notUnderstood: SscErrorReply = [400, { desc: 'not understood' }]
const notAcceptable: SscErrorReply = [406, { desc: 'not acceptable' }]
const scanConfig = '/rx1/scan/config'
const scanResult = '/rx1/scan/result'
/** A row of `/mm`. */
const noReception = [20, 0, 20, 0, 0, 0, 0, 0, 0]
/** Their values change when a scan begins or ends. */
const receivedAddresses = [1, 2].flatMap((n) => [`/rx${n}/active_warnings`, `/rx${n}/skx/battery`])
const terminated: SscErrorReply = [310, { desc: 'subscription terminated' }]

export async function startSsc1Simulator(options: Ssc1SimulatorOptions = {}): Promise<Ssc1Simulator> {
  const udp = await openSimulatedUdpSocket(options, (text, from) => {
    const reply = device.reply(text, from)
    if (Object.keys(reply).length > 0) udp.send(JSON.stringify(reply), from)
  })
  const device = new SimulatedSsc1Device(udp, options)
  return device
}

class SimulatedSsc1Device implements Ssc1Simulator {
  readonly udp: SimulatedUdpSocket
  readonly url: string
  readonly #model: SscModel
  readonly #maxClients: number
  /** The value of every address. */
  readonly #values: Map<string, unknown>
  /** Channels whose transmitter is off. */
  readonly #unlinked = new Set<number>()
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #scan: SimulatedScan | null
  readonly #staysTuned: boolean
  #silence: Silence | null = null

  constructor(udp: SimulatedUdpSocket, options: Ssc1SimulatorOptions) {
    const { model = 'EWDXEM2', mac = '00:1B:66:0A:0B:0C', maxClients = 8, values } = options
    this.udp = udp
    this.url = `ssc1://${udp.host}:${udp.port}`
    this.#model = model
    this.#maxClients = maxClients
    this.#values = new Map(Object.entries({ ...createInitialValues(model, mac), ...values }))
    const { canScan = true, staysTuned = false } = options
    this.#staysTuned = staysTuned
    this.#scan =
      model === 'EM6000' && canScan
        ? new SimulatedScan(options, {
            onBlock: (block) => this.#notifyOfBlock(block),
            onEnd: () => this.#scanEnded(),
          })
        : null
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  get isScanning(): boolean {
    return this.#scan?.isRunning === true
  }

  value(address: string): unknown {
    return this.#values.get(address)
  }

  set(changes: Readonly<Record<string, unknown>>): void {
    const changed = Object.keys(changes).filter(
      (address) => String(this.#values.get(address)) !== String(changes[address]),
    )
    for (const address of changed) this.#values.set(address, changes[address])
    this.#notifySubscribers(changed)
  }

  setLinked(channel: number, isLinked: boolean): void {
    if (isLinked) this.#unlinked.delete(channel)
    else this.#unlinked.add(channel)
    this.set(linkValues(this.#model, channel, isLinked))
  }

  dock(bay: number, pack: DockedPack | null): void {
    this.set(bayValues(this.#values, bay, pack))
  }

  setSilence(silence: Silence | null): void {
    this.#silence = silence
  }

  send(text: string): void {
    const peers = new Map([...this.#subscriptions.values()].map(({ peer }) => [`${peer.address}:${peer.port}`, peer]))
    for (const peer of peers.values()) this.udp.send(text, peer)
  }

  async close(): Promise<void> {
    this.#scan?.stop()
    for (const key of [...this.#subscriptions.keys()]) this.#removeSubscription(key)
    await this.udp.close()
  }

  reply(text: string, from: Peer): Tree {
    const message = parse(text)
    if (message === null) return { osc: { error: [notUnderstood] } }
    const { osc, ...tree } = message
    const reply: Tree = {}
    const errors: Tree = {}
    for (const [address, value] of leavesOf(tree)) this.#read(address, value, reply, errors)
    for (const subscription of toList(getAt(osc, 'state', 'subscribe')))
      this.#subscribe(subscription, from, reply, errors)
    const oscReply: Tree = {}
    if (isTree(osc) && 'xid' in osc) oscReply.xid = osc.xid
    if (isTree(osc) && 'version' in osc) oscReply.version = '1.0'
    if (isTree(osc) && 'ping' in osc) oscReply.ping = osc.ping
    if (Object.keys(errors).length > 0) oscReply.error = [errors]
    const oscBranch = isTree(reply.osc) ? { ...oscReply, ...reply.osc } : oscReply
    return { ...reply, ...(Object.keys(oscBranch).length > 0 && { osc: oscBranch }) }
  }

  /** Adds the value of an address to the reply. If `requested` is not null, the value is set first. */
  #read(address: string, requested: unknown, reply: Tree, errors: Tree): void {
    if (isSilenced(this.#silence, kindOf(address))) return
    const scanned = this.#readScan(address, requested)
    if (scanned !== undefined) {
      setAt(reply, address, scanned)
      return
    }
    const error = this.#findError(address)
    if (error === null && requested !== null) this.set({ [address]: roundToStep(address, requested) })
    setAt(error === null ? reply : errors, address, error ?? this.#currentValue(address))
  }

  /** Returns the answer about the scan, or undefined for another address. */
  #readScan(address: string, requested: unknown): readonly number[] | undefined {
    if (address === scanResult) return this.#scan?.read(requested)
    if (address !== scanConfig || this.#scan === null) return undefined
    const { isRunning } = this.#scan
    const answer = this.#scan.configure(requested)
    if (!isRunning && this.#scan.isRunning) this.#notifySubscribers(receivedAddresses)
    return answer
  }

  #scanEnded(): void {
    if (this.#staysTuned) this.set({ '/rx1/carrier': this.#scan?.khz, '/rx2/carrier': this.#scan?.khz })
    this.#notifySubscribers(receivedAddresses)
  }

  #notifyOfBlock(block: readonly number[]): void {
    for (const { peer, addresses } of this.#subscriptions.values()) {
      if (addresses.includes(scanResult)) this.udp.send(JSON.stringify({ rx1: { scan: { result: block } } }), peer)
    }
  }

  /** A receiver that scans receives neither signals nor transmitters. */
  #currentValue(address: string): unknown {
    const value = this.#values.get(address)
    if (!this.isScanning) return value
    if (address === '/mm' && Array.isArray(value)) return value.map(() => [...noReception])
    if (address.endsWith('/active_warnings')) return ['NoLink']
    return address.endsWith('/skx/battery') ? [] : value
  }

  #findError(address: string): SscErrorReply | null {
    if (!this.#values.has(address)) return notFound
    const [, channel] = /^\/mates\/tx(\d)\/(?!active$)/.exec(address) ?? []
    return channel !== undefined && this.#unlinked.has(Number(channel)) ? failedDependency : null
  }

  #subscribe(subscription: unknown, peer: Peer, reply: Tree, errors: Tree): void {
    if (!isTree(subscription)) return
    const { '#': terms, ...tree } = subscription
    const addresses = [...leavesOf(tree)].map(([address]) => address)
    const key = keyOf(peer, addresses)
    this.#removeSubscription(key)
    const { min = 0, max = 0, count = 1000, lifetime = 10, cancel = false } = readTerms(terms)
    if (cancel) return
    const clients = new Set(
      [...this.#subscriptions.values()].map((active) => `${active.peer.address}:${active.peer.port}`),
    )
    if (clients.size >= this.#maxClients && !clients.has(`${peer.address}:${peer.port}`)) {
      setAt(errors, '/osc/state/subscribe', notAcceptable)
      return
    }
    for (const address of addresses) this.#read(address, null, reply, errors)
    const known = addresses.filter((address) => this.#values.has(address) || this.#isScanAddress(address))
    if (known.length === 0) return
    const isPeriodic = min === max && min > 0
    this.#subscriptions.set(key, {
      peer,
      addresses: known,
      lifetime: setTimeout(() => this.#terminate(key), lifetime * 1000),
      timer: isPeriodic ? setInterval(() => this.#notify(key, addresses), min) : null,
      remaining: count,
    })
    setAt(reply, '/osc/state/subscribe', [{ '#': { min, max, count, lifetime } }])
  }

  /** The guide describes `/rx1/scan/result` as the only one of the scan to which clients can subscribe. */
  #isScanAddress(address: string): boolean {
    return this.#scan !== null && address === scanResult
  }

  #notify(key: string, addresses: readonly string[]): void {
    const subscription = this.#subscriptions.get(key)
    if (subscription === undefined) return
    const reply: Tree = {}
    const errors: Tree = {}
    for (const address of addresses)
      if (subscription.addresses.includes(address)) this.#read(address, null, reply, errors)
    if (Object.keys(reply).length + Object.keys(errors).length === 0) return
    const osc = Object.keys(errors).length > 0 ? { osc: { error: [errors] } } : {}
    this.udp.send(JSON.stringify({ ...osc, ...reply }), subscription.peer)
    subscription.remaining -= 1
    if (subscription.remaining <= 0) this.#terminate(key)
  }

  #terminate(key: string): void {
    const subscription = this.#subscriptions.get(key)
    if (subscription === undefined) return
    const errors: Tree = {}
    for (const address of subscription.addresses) setAt(errors, address, terminated)
    this.#removeSubscription(key)
    this.udp.send(JSON.stringify({ osc: { error: [errors] } }), subscription.peer)
  }

  #removeSubscription(key: string): void {
    const subscription = this.#subscriptions.get(key)
    clearTimeout(subscription?.lifetime)
    clearInterval(subscription?.timer ?? undefined)
    this.#subscriptions.delete(key)
  }

  /** Notifies subscribers of changes. Subscriptions with a fixed rate are notified by their timer instead. */
  #notifySubscribers(changed: readonly string[]): void {
    for (const [key, { timer }] of [...this.#subscriptions]) if (timer === null) this.#notify(key, changed)
  }
}

function kindOf(address: string): SentValue {
  const [, channel] = /\/(?:[rt]x|out)(\d)\//.exec(address) ?? []
  const isLevel = /^\/mm?(?:\/|$)|\/(?:rf_quality|level|level_db)$/.test(address)
  return { isLevel, channel: channel === undefined ? null : Number(channel) }
}

// --- Numbers -----------------------------------------------------------------------------------------------------------

/** A number between two steps is rounded instead of rejected. */
function roundToStep(address: string, requested: unknown): unknown {
  if (typeof requested !== 'number') return requested
  if (/\/(frequency|carrier)$/.test(address)) return Math.round(requested / 25) * 25
  return address.endsWith('/gain') ? Math.min(42, Math.max(-3, Math.round(requested / 3) * 3)) : requested
}

// --- Trees ------------------------------------------------------------------------------------------------------------

function isTree(value: unknown): value is Tree {
  return isRecord(value)
}

function* leavesOf(tree: Tree, prefix = ''): Generator<[address: string, value: unknown]> {
  for (const [name, value] of Object.entries(tree)) {
    if (isTree(value)) yield* leavesOf(value, `${prefix}/${name}`)
    else yield [`${prefix}/${name}`, value]
  }
}

function setAt(tree: Tree, address: string, value: unknown): void {
  const names = address.slice(1).split('/')
  const leaf = names.pop() ?? ''
  let branch = tree
  for (const name of names) {
    branch[name] ??= {}
    branch = branch[name] as Tree
  }
  branch[leaf] = value
}

function getAt(tree: unknown, ...names: readonly string[]): unknown {
  let found = tree
  for (const name of names) found = isTree(found) ? found[name] : undefined
  return found
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function readTerms(terms: unknown): {
  min?: number
  max?: number
  count?: number
  lifetime?: number
  cancel?: boolean
} {
  return isTree(terms) ? terms : {}
}

function keyOf({ address, port }: Peer, addresses: readonly string[]): string {
  return `${address}:${port} ${addresses.join(' ')}`
}

function parse(text: string): Tree | null {
  try {
    const message: unknown = JSON.parse(text)
    return isTree(message) ? message : null
  } catch {
    return null
  }
}
