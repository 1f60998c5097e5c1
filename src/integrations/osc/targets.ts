/** Sends to the configured targets and consoles until a signal aborts, and connects again when a connection ends. */

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import type { OscStrips, OscTarget } from '../../config/integrations.ts'
import type { Log } from '../../platform/log.ts'
import { childLifetime, pause } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import { openSocket, resolveDestination } from '../../upstream/destinations.ts'
import { createTcpPeer, type OscPeer, UdpPeers } from './peers.ts'

/** Starts sending to a peer. Returns a function that stops it. */
type Join = (peer: OscPeer) => () => void

const connectTimeoutMs = 10_000
const firstRetryMs = 1_000
const maxRetryMs = 30_000
const resolveEveryMs = 60_000

export function runTarget(service: Service, target: OscTarget | OscStrips, join: Join, signal: AbortSignal) {
  const isTcp = 'transport' in target && target.transport === 'tcp'
  const host = target.host.includes(':') ? `[${target.host}]` : target.host
  const url = new URL(`http://${host}:${target.port}`)
  return isTcp ? runTcp(service, url, join, signal) : runUdp(service, url, join, signal)
}

async function runTcp(service: Service, url: URL, join: Join, signal: AbortSignal): Promise<void> {
  const report = createReporter(service.log, `tcp:${url.host}`)
  let retryMs = firstRetryMs
  while (!signal.aborted) {
    const connecting = childLifetime(signal)
    const timer = setTimeout(() => connecting.abort(), connectTimeoutMs)
    try {
      const socket = await openSocket(url, service.outbound.destinations, connecting.signal)
      clearTimeout(timer)
      report(null)
      retryMs = firstRetryMs
      const closed = once(socket, 'close').catch(() => {})
      socket.on('error', () => {}).setKeepAlive(true, 30_000)
      // Data from the target is discarded. Commands arrive at the listener.
      socket.resume()
      const leave = join(createTcpPeer(socket))
      await closed
      leave()
    } catch (error) {
      report(error)
    } finally {
      clearTimeout(timer)
      connecting.abort()
    }
    await pause(retryMs, signal)
    retryMs = Math.min(maxRetryMs, 2 * retryMs)
  }
}

async function runUdp(service: Service, url: URL, join: Join, signal: AbortSignal): Promise<void> {
  const report = createReporter(service.log, `udp:${url.host}`)
  let current: { readonly address: string; readonly socket: UdpSocket } | undefined
  let leave: (() => void) | undefined
  const peer = new UdpPeers().create((packet) => {
    // An error is not reported, because the next values are sent anyway.
    if (current !== undefined) current.socket.send(packet, Number(url.port || 80), current.address, () => {})
  })
  while (!signal.aborted) {
    try {
      const { address, family } = await resolveDestination(service.outbound.destinations, url)
      if (address !== current?.address) {
        current?.socket.close()
        const socket = createSocket(family === 6 ? 'udp6' : 'udp4').on('error', () => {})
        current = { address, socket }
      }
      leave ??= join(peer)
      report(null)
    } catch (error) {
      report(error)
    }
    await pause(current === undefined ? maxRetryMs : resolveEveryMs, signal)
  }
  leave?.()
  current?.socket.close()
}

/** Logs the first of several failures, and the first success after them. */
function createReporter(log: Log, target: string): (error: unknown) => void {
  let hasFailed = false
  return (error) => {
    if (error !== null && !hasFailed) log.warn({ target, error: String(error) }, 'OSC target is not reachable')
    if (error === null && hasFailed) log.info({ target }, 'OSC target is reachable again')
    hasFailed = error !== null
  }
}
