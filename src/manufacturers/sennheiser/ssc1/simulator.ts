/**
 * A device that speaks SSC 1, on a real socket: EW-DX with two or four channels, an EM 6000, chargers. It answers to the
 * asker's port, ends subscriptions by lifetime and count with 310, takes eight clients, refuses what a transmitter would
 * have to tell while none is linked with 424 in the middle of good answers, and bends numbers to their steps.
 */

import {
  type DatagramOptions,
  openSimulatedDatagrams,
  type Peer,
  type SimulatedDatagrams,
} from '../simulated-datagrams.ts'
import { bayValues, type DockedPack, type SscModel, startOf } from './simulated-values.ts'

export interface Ssc1SimulatorOptions extends DatagramOptions {
  readonly model?: SscModel
  readonly values?: Readonly<Record<string, unknown>>
  readonly mac?: string
  /** 8 unless told. */
  readonly mostClients?: number
}

export interface Ssc1Simulator {
  readonly url: string
  readonly datagrams: SimulatedDatagrams
  readonly subscriptions: number
  /** As it stands, by address. */
  value(address: string): unknown
  /** Changes as by hand at the device, and tells those who subscribed. */
  set(values: Readonly<Record<string, unknown>>): void
  /** Switches the transmitter of a channel on or off. */
  link(channel: number, isLinked: boolean): void
  /** Puts a pack into a bay of a CHG 70N, or takes it out. */
  dock(bay: number, pack: DockedPack | null): void
  /** Sends this to everybody who subscribed, as it is. */
  say(text: string): void
  close(): Promise<void>
}

interface Tree {
  [name: string]: unknown
}

interface Subscription {
  readonly peer: Peer
  readonly addresses: readonly string[]
  readonly lifetime: NodeJS.Timeout
  readonly beat: NodeJS.Timeout | null
  left: number
}

type Refusal = readonly [code: number, about: { readonly desc: string }]
const notFound: Refusal = [404, { desc: 'address not found' }]
const failedDependency: Refusal = [424, { desc: 'failed dependency' }]
const notUnderstood: Refusal = [400, { desc: 'not understood' }]
const notAcceptable: Refusal = [406, { desc: 'not acceptable' }]
const terminated: Refusal = [310, { desc: 'subscription terminated' }]

export async function startSsc1Simulator(options: Ssc1SimulatorOptions = {}): Promise<Ssc1Simulator> {
  const { model = 'EWDXEM2', mac = '00:1B:66:0A:0B:0C', mostClients = 8 } = options
  const values = new Map(Object.entries({ ...startOf(model, mac), ...options.values }))
  const unlinked = new Set<number>()
  const subscriptions = new Map<string, Subscription>()

  const datagrams = await openSimulatedDatagrams(options, (text, from) => {
    const answer = answerText(text, from)
    if (answer !== null) datagrams.say(JSON.stringify(answer), from)
  })

  function answerText(text: string, from: Peer): Tree | null {
    const message = parse(text)
    if (message === null) return { osc: { error: [notUnderstood] } }
    const { osc, ...tree } = message
    const answer: Tree = {}
    const errors: Tree = {}
    for (const [address, value] of leavesOf(tree)) read(address, value, answer, errors)
    for (const asked of listOf(at(osc, 'state', 'subscribe'))) subscribe(asked, from, answer, errors)
    const reply: Tree = {}
    if (isTree(osc) && 'xid' in osc) reply.xid = osc.xid
    if (isTree(osc) && 'version' in osc) reply.version = '1.0'
    if (isTree(osc) && 'ping' in osc) reply.ping = osc.ping
    if (Object.keys(errors).length > 0) reply.error = [errors]
    const told = isTree(answer.osc) ? { ...reply, ...answer.osc } : reply
    return { ...answer, ...(Object.keys(told).length > 0 && { osc: told }) }
  }

  /** One address: its value, after setting it where one is given. */
  function read(address: string, given: unknown, answer: Tree, errors: Tree): void {
    const error = refusalOf(address)
    if (error === null && given !== null) set({ [address]: bend(address, given) })
    put(error === null ? answer : errors, address, error ?? values.get(address))
  }

  function refusalOf(address: string): Refusal | null {
    if (!values.has(address)) return notFound
    const [, channel] = /^\/mates\/tx(\d)\//.exec(address) ?? []
    return channel !== undefined && unlinked.has(Number(channel)) ? failedDependency : null
  }

  function subscribe(asked: unknown, peer: Peer, answer: Tree, errors: Tree): void {
    if (!isTree(asked)) return
    const { '#': terms, ...tree } = asked
    const addresses = [...leavesOf(tree)].map(([address]) => address)
    const key = keyOf(peer, addresses)
    end(key)
    const { min = 0, max = 0, count = 1000, lifetime = 10, cancel = false } = readTerms(terms)
    if (cancel) return
    const clients = new Set([...subscriptions.values()].map((one) => `${one.peer.address}:${one.peer.port}`))
    if (clients.size >= mostClients && !clients.has(`${peer.address}:${peer.port}`)) {
      put(errors, '/osc/state/subscribe', notAcceptable)
      return
    }
    for (const address of addresses) read(address, null, answer, errors)
    const known = addresses.filter((address) => values.has(address))
    if (known.length === 0) return
    const isSteady = min === max && min > 0
    subscriptions.set(key, {
      peer,
      addresses: known,
      lifetime: setTimeout(() => terminate(key), lifetime * 1000),
      beat: isSteady ? setInterval(() => notify(key, addresses), min) : null,
      left: count,
    })
    put(answer, '/osc/state/subscribe', [{ '#': { min, max, count, lifetime } }])
  }

  function notify(key: string, addresses: readonly string[]): void {
    const subscription = subscriptions.get(key)
    if (subscription === undefined) return
    const answer: Tree = {}
    const errors: Tree = {}
    for (const address of addresses) if (subscription.addresses.includes(address)) read(address, null, answer, errors)
    if (Object.keys(answer).length + Object.keys(errors).length === 0) return
    const refused = Object.keys(errors).length > 0 ? { osc: { error: [errors] } } : {}
    datagrams.say(JSON.stringify({ ...refused, ...answer }), subscription.peer)
    subscription.left -= 1
    if (subscription.left <= 0) terminate(key)
  }

  function terminate(key: string): void {
    const subscription = subscriptions.get(key)
    if (subscription === undefined) return
    const errors: Tree = {}
    for (const address of subscription.addresses) put(errors, address, terminated)
    end(key)
    datagrams.say(JSON.stringify({ osc: { error: [errors] } }), subscription.peer)
  }

  function end(key: string): void {
    const subscription = subscriptions.get(key)
    clearTimeout(subscription?.lifetime)
    clearInterval(subscription?.beat ?? undefined)
    subscriptions.delete(key)
  }

  function set(changes: Readonly<Record<string, unknown>>): void {
    const changed = Object.keys(changes).filter((address) => String(values.get(address)) !== String(changes[address]))
    for (const address of changed) values.set(address, changes[address])
    tell(changed)
  }

  /** Those with a steady rate hear of it at their next beat. */
  function tell(changed: readonly string[]): void {
    for (const [key, { beat }] of [...subscriptions]) if (beat === null) notify(key, changed)
  }

  return {
    url: `ssc1://${datagrams.host}:${datagrams.port}`,
    datagrams,
    get subscriptions() {
      return subscriptions.size
    },
    value: (address) => values.get(address),
    set,
    link(channel, isLinked) {
      if (isLinked) unlinked.delete(channel)
      else unlinked.add(channel)
      const isD6000 = model === 'EM6000'
      const warnings = `/rx${channel}/${isD6000 ? 'active_warnings' : 'warnings'}`
      set({
        [warnings]: isLinked ? [] : ['NoLink'],
        ...(isD6000 && { [`/rx${channel}/skx/battery`]: isLinked ? ['70%', '5:12'] : [] }),
      })
    },
    dock(bay, pack) {
      set(bayValues(values, bay, pack))
    },
    say(text) {
      const peers = new Map([...subscriptions.values()].map(({ peer }) => [`${peer.address}:${peer.port}`, peer]))
      for (const peer of peers.values()) datagrams.say(text, peer)
    },
    async close() {
      for (const key of [...subscriptions.keys()]) end(key)
      await datagrams.close()
    },
  }
}

// --- Numbers -----------------------------------------------------------------------------------------------------------

/** A number between steps is taken to the next one rather than refused. */
function bend(address: string, given: unknown): unknown {
  if (typeof given !== 'number') return given
  if (/\/(frequency|carrier)$/.test(address)) return Math.round(given / 25) * 25
  return address.endsWith('/gain') ? Math.min(42, Math.max(-3, Math.round(given / 3) * 3)) : given
}

// --- Trees ------------------------------------------------------------------------------------------------------------

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function* leavesOf(tree: Tree, prefix = ''): Generator<[address: string, value: unknown]> {
  for (const [name, value] of Object.entries(tree)) {
    if (isTree(value)) yield* leavesOf(value, `${prefix}/${name}`)
    else yield [`${prefix}/${name}`, value]
  }
}

function put(tree: Tree, address: string, value: unknown): void {
  const names = address.slice(1).split('/')
  const leaf = names.pop() ?? ''
  let branch = tree
  for (const name of names) {
    branch[name] ??= {}
    branch = branch[name] as Tree
  }
  branch[leaf] = value
}

function at(tree: unknown, ...names: readonly string[]): unknown {
  let found = tree
  for (const name of names) found = isTree(found) ? found[name] : undefined
  return found
}

function listOf(value: unknown): readonly unknown[] {
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
