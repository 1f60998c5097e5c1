/** Simulated systems that have no devices in common. */

import type { Simulator } from '../../simulators/show/simulator.ts'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import type { AtEnd } from '../harness.ts'
import { entryOf, plainShow } from '../reliability/service.ts'

export const systems = 4
const channelsPerReceiver = 4
const pollSeconds = 5

export interface Size {
  /** Receivers per system. */
  readonly receivers: number
}

export interface Upstream {
  /** Manufacturer code in the configuration. */
  readonly code: string
  readonly simulator: Simulator
  readonly entry: object
}

export async function openUpstreams(atEnd: AtEnd, { receivers }: Size): Promise<readonly Upstream[]> {
  const upstreams: Upstream[] = []
  for (let index = 0; index < systems; index += 1) {
    const firstNumber = 1 + index * receivers
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver, firstNumber })
    atEnd(() => simulator.close())
    const code = `hall-${index + 1}`
    const entry = { ...entryOf(simulator, { poll_interval: pollSeconds }), code, plugin: simulator.manufacturer }
    upstreams.push({ code, simulator, entry })
  }
  return upstreams
}
