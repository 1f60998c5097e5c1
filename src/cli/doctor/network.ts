/**
 * Checks of the network: multicast, the clock compared with those of the systems, and the provider for single sign-on.
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { LocalAddress } from '../../domain/identity/network.ts'
import { type MonitoredSource, readSourceTime } from '../../manufacturers/sources.ts'
import { type Finding, failed, passed, reasonOf, undetermined } from './check.ts'

/** Within the limit of one check (`checkLimitMs`), because a slow machine needs seconds for its first requests. */
const requestMs = 5_000

/** The maximum difference between two clocks. Sessions, certificates and recorded times depend on the clock. */
const maxDifferenceMs = 60_000
const maxComparisons = 20
/** Exists while systemd-timesyncd has synchronized the clock. */
const synchronizedFile = '/run/systemd/timesync/synchronized'

/**
 * Compares the clock with the Date headers of the systems. One that agrees is sufficient. Does not apply if no system
 * reports its time.
 */
export async function checkClock(sources: readonly MonitoredSource[]): Promise<Finding | null> {
  if (sources.length === 0) return null
  const results = await Promise.allSettled(
    sources.slice(0, maxComparisons).map(async (source) => {
      const time = await readSourceTime(source, AbortSignal.timeout(requestMs))
      return time === null ? [] : [{ host: new URL(source.settings.baseUrl).host, differenceMs: Date.now() - time }]
    }),
  )
  const readings = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  const [closest] = readings.sort((a, b) => Math.abs(a.differenceMs) - Math.abs(b.differenceMs))
  const time = new Date().toISOString()
  if (closest === undefined) {
    if (existsSync(synchronizedFile)) return passed(`${time}; synchronized with a time server.`)
    if (results.every(({ status }) => status === 'fulfilled')) return null
    return undetermined(`${time}; no system that could be compared with it responds. Compare it with a watch.`)
  }
  const { host, differenceMs } = closest
  if (Math.abs(differenceMs) <= maxDifferenceMs) return passed(`${time}; the clock of ${host} agrees.`)
  return failed(`${time} is ${describeDifference(differenceMs, host)}`)
}

function describeDifference(differenceMs: number, host: string): string {
  const direction = differenceMs > 0 ? 'ahead of' : 'behind'
  return `${Math.round(Math.abs(differenceMs) / 1000)} s ${direction} the clock of ${host}. Set the clock of this machine, or use a time server on both.`
}

/** Link-local multicast. No other program receives datagrams to this port. */
const group = '224.0.0.251'
const multicastWaitMs = 1_000

/** Checks for each local address that this machine receives its own multicast datagram. */
export async function checkMulticast(localAddresses: readonly LocalAddress[]): Promise<Finding | null> {
  if (localAddresses.length === 0) return null
  const results = await Promise.all(
    localAddresses.map(async (local) => ({ ...local, works: await receivesOwn(local.address) })),
  )
  const describe = (works: boolean) =>
    results
      .filter((result) => result.works === works)
      .map(({ interfaceName, address }) => `${interfaceName} (${address})`)
      .join(', ')
  if (!results.some(({ works }) => works)) {
    return failed(
      `No network accepts multicast: ${describe(false)}. Devices that announce themselves are not found; enter their addresses, or allow UDP multicast in the firewall of this machine.`,
    )
  }
  const without = describe(false)
  const note = without === '' ? '' : ` Not on ${without}.`
  return passed(`Multicast works on ${describe(true)}.${note} Whether switches forward it cannot be seen from here.`)
}

async function receivesOwn(address: string): Promise<boolean> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  const text = `micwatch ${address} ${performance.now()}`
  const ended = new AbortController()
  try {
    const received = new Promise<boolean>((resolve) => {
      socket.on('message', (message) => message.toString() === text && resolve(true))
      socket.on('error', () => resolve(false))
    })
    socket.bind(0)
    await once(socket, 'listening')
    socket.addMembership(group, address)
    socket.setMulticastInterface(address)
    socket.setMulticastLoopback(true)
    socket.setMulticastTTL(1)
    socket.send(text, socket.address().port, group)
    return await Promise.race([received, pause(multicastWaitMs, false, { signal: ended.signal })])
  } catch {
    return false
  } finally {
    ended.abort()
    socket.close()
  }
}

interface CheckedProvider {
  readonly issuer: string
  readonly clockToleranceMs: number
  /** Returns how far this clock is ahead of the provider's; null if unknown. */
  check(): Promise<number | null>
}

export async function checkProvider(provider: CheckedProvider): Promise<Finding> {
  const { issuer } = provider
  let aheadMs: number | null
  try {
    aheadMs = await provider.check()
  } catch (error) {
    return failed(`The sign-in provider ${issuer} cannot be used: ${reasonOf(error)}. Check oidc.issuer.`)
  }
  if (aheadMs === null) return passed(`The sign-in provider ${issuer} responds. Its time is unknown.`)
  if (Math.abs(aheadMs) <= provider.clockToleranceMs) {
    return passed(`The sign-in provider ${issuer} responds, and its clock agrees.`)
  }
  const difference = describeDifference(aheadMs, new URL(issuer).host)
  return failed(`The sign-in provider ${issuer} responds, but sign-ins may fail: this machine is ${difference}`)
}
