/** Simulated devices of all families, in a separate process: `families-process.ts <options as JSON>`. */

import { startAudioTechnicaSimulator } from '../simulators/audio_technica/receivers.ts'
import { startDpaSimulator } from '../simulators/dpa/ndr1.ts'
import { startLectrosonicsSimulator } from '../simulators/lectrosonics/dsqd.ts'
import { startSennheiserRack } from '../simulators/sennheiser/rack.ts'
import { startStringsRack } from '../simulators/shure/strings.ts'

/** Devices of each kind. */
export interface FamilyCounts {
  readonly shure: number
  readonly sennheiser: number
  readonly lectrosonics: number
  readonly audioTechnica: number
  readonly dpa: number
}

const counts: FamilyCounts = JSON.parse(process.argv[2] ?? '{}')
const rack = { seed: 1, firstPerformer: 0, startedAt: Date.now() }
const polled = { seed: 1, story: false, startedAt: rack.startedAt }
const shure = await startStringsRack({ ...rack, copies: counts.shure, includesRooms: true })
const sennheiser = await startSennheiserRack({ ...rack, copies: counts.sennheiser, includesOldest: true })
const lectrosonics = await startLectrosonicsSimulator({ ...polled, receivers: counts.lectrosonics })
const audioTechnica = await startAudioTechnicaSimulator({ ...polled, receivers: counts.audioTechnica })
const dpa = await startDpaSimulator({ ...polled, receivers: counts.dpa })
console.log(
  JSON.stringify({
    manufacturers: [
      { code: 'shure', config: { devices: shure.devices } },
      { code: 'sennheiser', config: { devices: sennheiser.devices, password: sennheiser.password } },
      { code: 'lectrosonics', config: lectrosonics.config },
      { code: 'audio_technica', config: audioTechnica.config },
      { code: 'dpa', config: dpa.config },
    ],
  }),
)
