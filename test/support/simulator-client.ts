/** An independent client for simulated systems: plain requests, and a collector for frames. */

import { type IncomingHttpHeaders, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Simulator } from '../../simulators/show/simulator.ts'

/** A rate limit that no test reaches. */
export const unlimitedRate = { perSecond: 10_000, burst: 10_000 }

export interface SimulatorResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON the simulator sent
  readonly json: any
}

export function call(
  simulator: { baseUrl: string },
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown; signal?: AbortSignal | undefined } = {},
): Promise<SimulatorResponse> {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body)
  const headers = { ...options.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const clientRequest = request(simulator.baseUrl + path, { method, headers, signal: options.signal, agent: false })
    clientRequest.on('error', reject)
    clientRequest.on('response', async (response) => {
      try {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const bytes = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: bytes.length,
          json: parseJson(bytes),
        })
      } catch (error) {
        reject(error)
      }
    })
    clientRequest.end(body)
  })
}

function parseJson(bytes: Buffer): unknown {
  try {
    return bytes.length > 1_000_000 ? undefined : JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever JSON the simulator sent
type Frame = any

/** Collects frames and waits for later ones. */
export function collect() {
  const all: Frame[] = []
  const find = async (matches: (frame: Frame) => boolean): Promise<Frame> => {
    await until(() => all.some(matches))
    return all.find(matches)
  }
  return { all, find }
}

export function findTransmitter(simulator: Simulator): { id: string; number: number } {
  for (const { device, channels } of simulator.show.devicesAt(0, simulator.manufacturer)) {
    const channel = channels.find((channel) => channel.transmitter !== null)
    if (channel !== undefined) return { id: device.id, number: channel.channel }
  }
  throw new Error('no transmitter is on')
}

export async function until(condition: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 5000; !condition(); await pause(10)) {
    if (performance.now() > deadline) throw new Error(`timed out: ${condition}`)
  }
}
