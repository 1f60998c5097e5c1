/**
 * Starts the demo: simulated systems of two manufacturers that share one show, a rack with individual devices of three
 * manufacturers, and an intercom.
 */

import type { DemoMicrophone } from './audio/demo-sound.ts'
import { startClearcomSimulator } from './clearcom/station.ts'
import type { Venue } from './demo-day.ts'
import { reportedScale as dsqdScale, startLectrosonicsSimulator } from './lectrosonics/dsqd.ts'
import { startSennheiserRack } from './sennheiser/rack.ts'
import { startSennheiserSimulator } from './sennheiser/system.ts'
import type { ShowDevice } from './show/cast.ts'
import { planDay } from './show/day.ts'
import { commonScale, type PlayedDevice, type ReportedScale } from './show/day-levels.ts'
import { createShow, type Show } from './show/show.ts'
import { startShureSimulator } from './shure/device-api.ts'
import { startStringsRack } from './shure/strings.ts'

export interface DemoOptions {
  readonly seed?: number | undefined
  /** Number of receivers on both systems together. If set, the rack is not started. Default: 24 and the rack. */
  readonly receivers?: number | undefined
  /** Port of the first system; the second system uses the next port. 0 (default): free ports. */
  readonly port?: number
}

export interface Demo {
  readonly manufacturers: readonly {
    readonly code: string
    readonly name: string
    readonly config: Readonly<Record<string, unknown>>
  }[]
  /** The simulated equipment, for the day before. */
  readonly venue: Venue
  /** The channels with a voice that can be played. */
  readonly microphones: readonly DemoMicrophone[]
  close(): Promise<void>
}

/** Index of the first performer in the rack. Performers with lower indexes are on the systems' receivers. */
const rackFirstPerformer = 70

export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const { seed = 1, receivers, port = 0 } = options
  const resources: { close(): Promise<void> }[] = []
  const track = <T extends { close(): Promise<void> }>(resource: T): T => {
    resources.push(resource)
    return resource
  }
  const close = async () => {
    await Promise.all(resources.map((resource) => resource.close()))
  }
  try {
    const startedAt = Date.now()
    const shared = { show: createShow({ seed, receivers }), startedAt }
    const shure = track(await startShureSimulator({ ...shared, port }))
    const sennheiser = track(await startSennheiserSimulator({ ...shared, port: port === 0 ? 0 : port + 1 }))
    const systems = [
      { code: 'shure', name: 'Shure', config: shure.config },
      { code: 'sennheiser', name: 'Sennheiser', config: sennheiser.config },
    ]
    const listed = toPlayedDevices(shared.show, commonScale, ({ id }) => id)
    if (receivers !== undefined) {
      const venue = { seed, startedAt, devices: listed }
      return { manufacturers: systems, venue, microphones: listMicrophones(shared.show, venue), close }
    }
    const strings = track(await startStringsRack({ seed, firstPerformer: rackFirstPerformer, startedAt }))
    const ssc = track(await startSennheiserRack({ seed, firstPerformer: rackFirstPerformer + 28, startedAt }))
    const lectrosonicsShow = createShow({ seed, story: false, manufacturers: {} })
    lectrosonicsShow.add('lectrosonics', { firstPerformer: rackFirstPerformer + 60 })
    const dsqd = track(await startLectrosonicsSimulator({ show: lectrosonicsShow, startedAt }))
    const intercom = track(await startIntercom(seed, startedAt))
    const units = toPlayedDevices(lectrosonicsShow, dsqdScale, ({ serial_number }) => `dsqd:${serial_number}`)
    const venue = { seed, startedAt, devices: [...listed, ...strings.played, ...ssc.played, ...units] }
    return {
      manufacturers: [
        { code: 'shure', name: 'Shure', config: { ...shure.config, devices: strings.devices } },
        { code: 'sennheiser', name: 'Sennheiser', config: { ...sennheiser.config, devices: ssc.devices } },
        { code: 'lectrosonics', name: 'Lectrosonics', config: dsqd.config },
        { code: 'clearcom', name: 'Clear-Com', config: intercom.config },
      ],
      venue,
      microphones: listMicrophones(shared.show, venue),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Percent. The battery of a story is lower. */
const sufficientCharge = 30

/** Returns the channels with a voice, except those of devices to which something happens in the show. */
function listMicrophones({ story }: Show, { seed, devices }: Venue): DemoMicrophone[] {
  const day = planDay(
    seed,
    devices.map(({ setup }) => setup),
  )
  return devices
    .filter(({ setup }) => story.every(({ id }) => id !== setup.device.id))
    .filter(({ scale }) => scale.rf !== null && scale.audio !== null && !scale.hasFixedTransmitter)
    .flatMap(({ manufacturer, reportedIds, mutedChannels, setup: { device, channels } }) =>
      channels.flatMap((setup): DemoMicrophone[] => {
        const channelDay = day.devices.get(device.id)?.channels.get(setup.channel)
        const isVoice = setup.part !== 'instrument' && setup.pack !== null && setup.pack.charge > sufficientCharge
        const isMuted = mutedChannels.includes(setup.channel)
        return isVoice && !isMuted && channelDay ? [{ manufacturer, reportedIds, setup, day: channelDay }] : []
      }),
    )
}

const intercomRoles = ['Stage manager', 'FOH', 'Monitors', 'Lighting desk', 'Fly floor', 'Deck left']

/** Starts an intercom with one belt pack for each role. */
async function startIntercom(seed: number, startedAt: number) {
  const show = createShow({ seed, story: false, manufacturers: {} })
  const id = show.add('clearcom', { name: 'Intercom', firstPerformer: rackFirstPerformer + 70 })
  for (const [index, name] of intercomRoles.entries()) show.set(id, { name }, index + 1)
  return startClearcomSimulator({ show, startedAt })
}

/** Returns the devices of a show that all report the same values. */
function toPlayedDevices(show: Show, scale: ReportedScale, reportedId: (device: ShowDevice) => string): PlayedDevice[] {
  return show.setups().map((setup) => ({
    manufacturer: setup.device.manufacturer,
    reportedIds: [reportedId(setup.device)],
    setup,
    scale,
    mutedChannels: [],
  }))
}
