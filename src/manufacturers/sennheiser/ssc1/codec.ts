/**
 * Sound Control Protocol 1: converts between JSON datagrams and values by address. An address `/rx1/name` is the nested
 * object `{"rx1":{"name":…}}`. Source: Sennheiser's SSC developer's guides for EW-DX (firmware 3.0), Digital 6000
 * (TI 1109) and SpeechLine Digital Wireless (TI 1094).
 */

import { isRecord, type Json } from '../../../domain/json.ts'
import { findJsonExcess } from '../../../domain/json-limits.ts'

/** One datagram may contain both values and errors. */
export interface SscMessage {
  readonly values: ReadonlyMap<string, unknown>
  readonly errors: readonly SscError[]
}

export interface SscError {
  /** Empty if the device rejects a whole message. */
  readonly address: string
  readonly code: number
  readonly text: string
}

/** Error code for an address of a transmitter that is not linked. */
export const failedDependency = 424
/** Error code for a subscription that reached its lifetime or notification count. */
export const subscriptionTerminated = 310
/** Error code for a rejected subscription. */
export const notAcceptable = 406

export interface SubscriptionTerms {
  readonly lifetimeS: number
  readonly count: number
  /** Bounds of the interval between notifications. Equal bounds request a fixed rate; absent ones are not sent. */
  readonly minMs?: number | undefined
  readonly maxMs?: number | undefined
}

const maxValues = 2000
const maxJsonValues = 10_000

/** Requests leaf addresses only, because not all devices support requests for a branch. */
export function formatGetRequest(addresses: readonly string[]): string {
  return JSON.stringify(toTree(addresses))
}

export function formatValue(address: string, value: unknown): string {
  const names = address.slice(1).split('/')
  return JSON.stringify(names.reduceRight((inner, name) => ({ [name]: inner }), value))
}

export function formatSubscription(addresses: readonly string[], terms: SubscriptionTerms): string {
  const { lifetimeS, count, minMs, maxMs } = terms
  const subscription = { '#': { min: minMs, max: maxMs, count, lifetime: lifetimeS }, ...toTree(addresses) }
  return JSON.stringify({ osc: { state: { subscribe: [subscription] } } })
}

/** Subscriptions are identified by their addresses. */
export function formatCancellation(subscriptions: readonly (readonly string[])[]): string {
  const subscribe = subscriptions.map((addresses) => ({ '#': { cancel: true }, ...toTree(addresses) }))
  return JSON.stringify({ osc: { state: { subscribe } } })
}

/** Returns null if the text is not a message of this protocol. */
export function parseMessage(text: string): SscMessage | null {
  const message = parseJson(text)
  if (!isRecord(message)) return null
  const values = new Map<string, unknown>()
  const { osc, ...tree } = message
  collectValues(tree, '', values)
  const errors = isRecord(osc) ? osc.error : undefined
  const isTree = !Array.isArray(errors) || typeof errors[0] === 'number'
  const trees = isTree ? [errors] : errors
  return { values, errors: trees.flatMap((errorTree) => collectErrors(errorTree, '')) }
}

interface Branch {
  [name: string]: Branch | null
}

function toTree(addresses: readonly string[]): Branch {
  const root: Branch = {}
  for (const address of addresses) {
    const names = address.slice(1).split('/')
    const leaf = names.pop() ?? ''
    let branch = root
    for (const name of names) {
      branch[name] ??= {}
      branch = branch[name]
    }
    branch[leaf] = null
  }
  return root
}

function collectValues(branch: Json, prefix: string, values: Map<string, unknown>): void {
  for (const [name, value] of Object.entries(branch)) {
    const address = `${prefix}/${name}`
    if (isRecord(value)) collectValues(value, address, values)
    else if (values.size < maxValues) values.set(address, value)
  }
}

/** A rejected address has the value `[code, {"desc": text}]`, on some devices `{"code", "desc"}`. */
function collectErrors(tree: unknown, address: string): SscError[] {
  const leaf = Array.isArray(tree) ? { code: tree[0], desc: isRecord(tree[1]) ? tree[1].desc : '' } : tree
  if (!isRecord(leaf)) return []
  const { code, desc } = leaf
  if (typeof code === 'number') return [{ address, code, text: typeof desc === 'string' ? desc.slice(0, 255) : '' }]
  return Object.entries(leaf).flatMap(([name, inner]) => collectErrors(inner, `${address}/${name}`))
}

function parseJson(text: string): unknown {
  try {
    return findJsonExcess(Buffer.from(text), maxJsonValues) === null ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
