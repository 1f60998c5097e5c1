/** Session with an SSC 1 device: requests the identity first, then keeps subscriptions alive. Pure. */

import type { DeviceProblem } from '../../../domain/equipment/health.ts'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { toFaultDetails } from '../../../upstream/faults.ts'
import { createMisfits, type Misfits } from '../../../upstream/field-table.ts'
import { readMac, withoutUndefined } from '../../../upstream/fields.ts'
import { createDatagramAdapter, type DatagramSession, type DeviceEndpoint } from '../datagram-session.ts'
import { familyOf } from '../realtime.ts'
import {
  failedDependency,
  formatCancellation,
  formatGetRequest,
  formatSubscription,
  notAcceptable,
  parseMessage,
  type SscError,
  subscriptionTerminated,
} from './codec.ts'
import { familyOfProduct, identityTopic, levelsOfType, macTopic } from './families.ts'
import type { SscValues, Topic } from './family.ts'
import { identity } from './fields.ts'
import { lights } from './lights.ts'
import { scanner } from './scanner.ts'

const idPrefix = 'ssc1:'

/** `endpoint.channels` contains the numbers of the device's channels. */
export function toDeviceReport(
  values: SscValues,
  endpoint: DeviceEndpoint & { readonly channels: readonly number[] },
): DeviceReport {
  const product = identity.product.read(values.get('/device/identity/product')) ?? null
  const serial = identity.serial.read(values.get('/device/identity/serial')) || null
  const mac = readMac(identity.macs.read(values.get('/device/network/ether/macs'))) ?? null
  const family = familyOfProduct(product ?? '')
  const id = idPrefix + (serial ?? mac ?? endpoint.host)
  return withoutUndefined({
    id,
    kind: 'receiver',
    name: identity.deviceName.read(values.get('/device/name')) || endpoint.name || product || endpoint.host,
    device_type: familyOf(product ?? '') ?? (product ?? 'ssc').toLowerCase(),
    model_name: product,
    online: true,
    serial_number: serial,
    mac_address: mac,
    ip: endpoint.ip,
    firmware_version: identity.version.read(values.get('/device/identity/version')),
    details: toFaultDetails(family?.readFaults?.(values) ?? []),
    channels: endpoint.channels.map((channel) => family?.readChannel?.(values, channel) ?? { channel }),
    units: family?.readUnits?.(values, id),
  })
}

/**
 * The end of a subscription is announced at most once, and the datagram may be lost, so a subscription is renewed after
 * a third of its lifetime.
 */
const lifetimeS = 24
const renewEveryMs = (lifetimeS * 1000) / 3
const retryEveryMs = 2000
/** Repeated requests may replace a subscription or add one, so the rate is limited. */
const minRequestIntervalMs = 1000
/** The session gives up on a topic after this many unanswered requests. */
const maxAttempts = 3

/** A topic with the time of its next request. */
interface ScheduledTopic extends Topic {
  requestedAt: number
  nextRequestAt: number
  attempts: number
  isAnswered: boolean
}

export const ssc1 = createDatagramAdapter({
  createSession: createSsc1Session,
  idPrefix,
  lights,
  scanner,
  levels: levelsOfType,
  refusedAdvice: 'on an EW-DX from firmware 4.0, allow legacy access in Control Cockpit',
})

export function createSsc1Session(endpoint: DeviceEndpoint): DatagramSession {
  const values = new Map<string, unknown>()
  /** Addresses of levels that have been reported and not received since. */
  const passedOn = new Set<string>()
  const identity = scheduleTopic(identityTopic)
  const initialTopics = [identity, scheduleTopic(macTopic)]
  /** Null until the device is identified. */
  let topics: ScheduledTopic[] | null = null
  let rejection: string | null = null
  /** Created when the family is known. */
  let misfits: Misfits | null = null
  let problems: readonly DeviceProblem[] = []
  const refused = new Map<string, string>()
  /** The error with which the device has rejected a whole message; null if it has rejected none. */
  let messageError: string | null = null

  const activeTopics = () =>
    topics === null ? initialTopics.filter(({ isAnswered }) => !isAnswered) : [identity, ...topics]
  const family = () => familyOfProduct(String(values.get('/device/identity/product') ?? ''))
  const channelAddressOf = (channel: number | null) =>
    channel === null ? undefined : family()?.channelAddress?.(channel)

  function startTopics(): void {
    const isIdentityComplete = initialTopics.every((topic) => topic.isAnswered || isGivenUp(topic))
    if (topics === null && identity.isAnswered && isIdentityComplete) {
      topics = family()?.topics.map(scheduleTopic) ?? []
      misfits = createMisfits(endpoint.host, family()?.fields)
    }
  }

  function applyValue(address: string, value: unknown, now: number): void {
    const before = values.get(address)
    values.set(address, value)
    passedOn.delete(address)
    // If one of these changes, a transmitter may have been linked or unlinked: request its values again.
    if (!/(warnings|active)$/.test(address) || String(before) === String(value)) return
    const changedTopic = topics?.find(({ addresses }) => addresses.includes(address))
    for (const topic of topics ?? [])
      if (topic.channel === changedTopic?.channel && topic !== changedTopic) requestSooner(topic, now)
  }

  function applyError({ address, code, text }: SscError, now: number): void {
    const rejected = [...initialTopics, ...(topics ?? [])].flatMap(({ addresses }) =>
      addresses.filter((candidate) => isWithin(candidate, address)),
    )
    const rejectsSubscription = address.startsWith('/osc') || (address === '' && code === notAcceptable)
    if (code === subscriptionTerminated) for (const topic of topics ?? []) requestSooner(topic, now)
    else if (rejectsSubscription) rejection = `the device rejects the subscription (${code} ${text})`
    else if (address === '') messageError = `error ${code}`
    else if (code === failedDependency) for (const rejectedAddress of rejected) values.set(rejectedAddress, null)
    else for (const rejectedAddress of rejected) refused.set(rejectedAddress, `error ${code}`)
    // A 404 means that the device does not have the channel. A channel that was reported before is kept.
    if (code === 404) {
      const missing = rejected.filter((candidate) => !values.has(candidate))
      topics = topics?.filter(({ channel }) => !missing.includes(channelAddressOf(channel) ?? '')) ?? null
    }
  }

  /** Updates the problems after a message. A rejected address that has been reported since is not a problem. */
  function updateProblems(reported: ReadonlyMap<string, unknown>): void {
    for (const address of reported.keys()) refused.delete(address)
    // Addresses of a channel that the device does not have are no longer requested.
    const requested = new Set((topics ?? []).flatMap(({ addresses }) => addresses))
    const current = new Map([...refused].filter(([address]) => requested.has(address)))
    // The error does not name the message, so all topics without an answer count as refused.
    if (messageError !== null)
      for (const { addresses } of topics?.filter(isGivenUp) ?? [])
        for (const address of addresses) current.set(address, messageError)
    if (misfits === null) return
    const changes = [misfits.check(reported), misfits.setRefused(current)]
    if (changes.includes(true)) problems = misfits.list()
  }

  return {
    get problems() {
      return problems
    },
    get nextSendAt() {
      return Math.min(...activeTopics().map(({ nextRequestAt }) => nextRequestAt))
    },
    takeDueMessages(now) {
      startTopics()
      const due = activeTopics().filter(({ nextRequestAt }) => nextRequestAt <= now)
      for (const topic of due) {
        topic.requestedAt = now
        topic.nextRequestAt = now + (topic.isAnswered ? renewEveryMs : retryEveryMs)
        topic.attempts += 1
      }
      return due.map(formatRequest)
    },
    receive(text, now) {
      const message = parseMessage(text)
      if (message === null) return 'a datagram is not a message of this protocol'
      for (const [address, value] of message.values) applyValue(address, value, now)
      for (const error of message.errors) applyError(error, now)
      const answered = [...message.values.keys(), ...message.errors.map(({ address }) => address)]
      for (const topic of [...initialTopics, ...(topics ?? [])]) {
        const isMatch = topic.addresses.some((requested) => answered.some((address) => isWithin(requested, address)))
        if (topic.isAnswered || !isMatch) continue
        topic.isAnswered = true
        topic.nextRequestAt = topic.requestedAt + renewEveryMs
      }
      startTopics()
      updateProblems(message.values)
      return null
    },
    getReport() {
      if (topics === null) return null
      const reported = topics.flatMap(({ channel }) =>
        channel !== null && values.has(channelAddressOf(channel) ?? '') ? channel : [],
      )
      const current = new Map([...values].filter(([address]) => !passedOn.has(address)))
      return toDeviceReport(current, { ...endpoint, channels: [...new Set(reported)] })
    },
    markReported() {
      for (const address of values.keys()) if (family()?.levelAddress?.test(address) === true) passedOn.add(address)
    },
    get isComplete() {
      return topics?.every((topic) => topic.isAnswered || isGivenUp(topic)) ?? false
    },
    get rejection() {
      return rejection
    },
    createUnsubscribeMessage: () =>
      formatCancellation((topics ?? []).filter(({ isPolled }) => !isPolled).map(({ addresses }) => addresses)),
  }
}

function scheduleTopic(topic: Topic): ScheduledTopic {
  const never = Number.NEGATIVE_INFINITY
  return { ...topic, requestedAt: never, nextRequestAt: never, attempts: 0, isAnswered: false }
}

function isGivenUp({ isAnswered, attempts }: ScheduledTopic): boolean {
  return !isAnswered && attempts >= maxAttempts
}

function formatRequest({ isPolled, addresses, everyMs }: Topic): string {
  if (isPolled) return formatGetRequest(addresses)
  const intervalMs = everyMs === null ? 0 : everyMs
  return formatSubscription(addresses, { lifetimeS, count: 1000, minMs: intervalMs, maxMs: intervalMs })
}

function requestSooner(topic: ScheduledTopic, now: number): void {
  topic.nextRequestAt = Math.min(topic.nextRequestAt, Math.max(now, topic.requestedAt + minRequestIntervalMs))
}

function isWithin(address: string, branch: string): boolean {
  return branch !== '' && (address === branch || address.startsWith(`${branch}/`))
}
