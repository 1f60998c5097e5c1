/** Starts individual devices of all families of a manufacturer, for tests and benchmarks with many devices. */

import { startAudioTechnicaSimulator } from './audio_technica/receivers.ts'
import { startClearcomSimulator } from './clearcom/station.ts'
import { startDpaSimulator } from './dpa/ndr1.ts'
import { startLectrosonicsSimulator } from './lectrosonics/dsqd.ts'
import { startSennheiserRack } from './sennheiser/rack.ts'
import type { SimulatedManufacturer } from './show/cast.ts'
import type { RackOptions } from './show/simulator.ts'
import { startStringsRack } from './shure/strings.ts'

interface SimulatedFamilies {
  /** Devices of each kind in the benchmark of 500 devices. */
  readonly copies: number
  /** Returns the configuration of the manufacturer. */
  start(rack: RackOptions): Promise<object>
}

const ofDevices = (
  copies: number,
  start: (options: { seed: number; startedAt: number; story: false; receivers: number }) => Promise<{ config: object }>,
): SimulatedFamilies => ({
  copies,
  start: async ({ seed, startedAt, copies }) =>
    (await start({ seed, startedAt, story: false, receivers: copies ?? 1 })).config,
})

export const families: Readonly<Record<SimulatedManufacturer, SimulatedFamilies>> = {
  shure: {
    copies: 32,
    async start(rack) {
      const { devices } = await startStringsRack({ ...rack, includesRooms: true })
      return { devices }
    },
  },
  sennheiser: {
    copies: 25,
    async start(rack) {
      const { devices, password } = await startSennheiserRack({ ...rack, includesOldest: true })
      return { devices, password }
    },
  },
  lectrosonics: ofDevices(8, startLectrosonicsSimulator),
  audio_technica: ofDevices(9, startAudioTechnicaSimulator),
  dpa: ofDevices(10, startDpaSimulator),
  clearcom: ofDevices(10, startClearcomSimulator),
}
