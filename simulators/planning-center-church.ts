/** A church with its plans, people and their photos, for the simulated Planning Center. */

import { crc32, deflateSync } from 'node:zlib'

export interface Church {
  readonly serviceTypes: SimulatedServiceType[]
  readonly people: SimulatedPerson[]
  readonly teams: { readonly id: string; readonly name: string }[]
}

export interface SimulatedServiceType {
  readonly id: string
  readonly name: string
  readonly sequence: number
  readonly isArchived?: boolean
  /** The owner of the token may not view it. */
  readonly isHidden?: boolean
  readonly plans: SimulatedPlan[]
}

export interface SimulatedPlan {
  readonly id: string
  readonly title: string | null
  readonly dates: string
  readonly sort_date: string
  readonly times: readonly {
    readonly id: string
    readonly name: string | null
    /** Epoch milliseconds. */
    readonly starts_at: number
    readonly ends_at: number
    readonly time_type: 'service' | 'rehearsal' | 'other'
  }[]
  readonly people: SimulatedMember[]
}

export interface SimulatedMember {
  readonly id: string
  readonly person: string
  /** Id of the team. */
  readonly team: string
  readonly position: string
  /** Confirmed, unconfirmed or declined. */
  readonly status: 'C' | 'U' | 'D'
  /** Ids of the services. Default: all. */
  readonly times?: readonly string[]
}

export interface SimulatedPerson {
  readonly id: string
  readonly name: string
  /** A PNG picture. */
  photo: Uint8Array | null
  /** Part of the address of the photo, which changes with the photo. */
  photoVersion: number
  /** Replaces the address of the photo. */
  photoAddress?: string
}

const dayMs = 86_400_000
const hourMs = 3_600_000
const [band, hosts, tech] = ['2001', '2002', '2003'] as const

const names = ['Nora Ekberg', 'Ada Byron', 'Bo Lindqvist', 'Cy Okafor', 'Di Marsh', 'Eli Stone', 'Fay Wu', 'Gus Park']
const idOf = (name: string) => String(3001 + names.findIndex((candidate) => candidate.startsWith(name)))

/** Creates a church whose next plan has two services, with another singer at the second. */
export function createChurch(now: number): Church {
  const people = names.map((name, index): SimulatedPerson => {
    const photo = name === 'Cy Okafor' ? null : drawPhoto(index)
    return { id: String(3001 + index), name, photo, photoVersion: 1_600_000_000 + index }
  })
  const today = Math.floor(now / dayMs) * dayMs
  const sunday = (weeks: number) => today + (weeks * 7 + 3) * dayMs
  return {
    people,
    teams: [
      { id: band, name: 'Band' },
      { id: hosts, name: 'Hosts' },
      { id: tech, name: 'Production' },
    ],
    serviceTypes: [
      {
        id: '1001',
        name: 'Sunday Services',
        sequence: 1,
        plans: [
          createPlan('4001', null, sunday(-1)),
          createPlan('4002', 'Harvest', sunday(0)),
          createPlan('4003', null, sunday(1)),
        ],
      },
      { id: '1002', name: 'Youth', sequence: 2, plans: [] },
      { id: '1003', name: 'Christmas 2019', sequence: 3, isArchived: true, plans: [] },
      { id: '1004', name: 'Staff', sequence: 4, isHidden: true, plans: [] },
    ],
  }
}

function createPlan(id: string, title: string | null, day: number): SimulatedPlan {
  const date = new Date(day)
  const month = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(date)
  const service = (name: string, hour: number) => ({
    id: `${id}${hour}`,
    name,
    starts_at: day + hour * hourMs,
    ends_at: day + (hour + 1) * hourMs,
    time_type: 'service' as const,
  })
  const [early, late] = [service('Early service', 9), service('Late service', 11)]
  const rehearsal = { ...service('Rehearsal', 8), time_type: 'rehearsal' as const }
  const member = (
    index: number,
    name: string,
    team: string,
    position: string,
    more: Partial<SimulatedMember> = {},
  ) => ({
    id: `${id}5${index}`,
    person: idOf(name),
    team,
    position,
    status: 'C' as const,
    ...more,
  })
  return {
    id,
    title,
    dates: `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`,
    sort_date: new Date(early.starts_at).toISOString(),
    times: [rehearsal, early, late],
    people: [
      member(1, 'Nora', band, 'Vox 1'),
      member(2, 'Ada', band, 'Vox 2', { times: [early.id], status: 'U' }),
      member(3, 'Fay', band, 'Vox 2', { times: [late.id] }),
      member(4, 'Bo', band, 'Vox 3'),
      member(5, 'Cy', hosts, 'Speaker'),
      member(6, 'Nora', hosts, 'Host'),
      member(7, 'Di', band, 'Drums'),
      member(8, 'Gus', band, 'Vox 4', { status: 'D' }),
      member(9, 'Eli', tech, 'Camera 1'),
    ],
  }
}

/** Draws a head and shoulders as a PNG picture of 96 × 96 pixels. The index determines the colours. */
export function drawPhoto(index: number): Uint8Array {
  const size = 96
  const background = [90 + ((index * 53) % 120), 90 + ((index * 97) % 120), 110 + ((index * 31) % 120)]
  const lines = Buffer.alloc(size * (size * 3 + 1))
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const isHead = (x - 48) ** 2 + (y - 38) ** 2 < 18 ** 2
      const isBody = ((x - 48) / 34) ** 2 + ((y - 96) / 32) ** 2 < 1
      const colour = isHead || isBody ? [240, 226, 208] : background
      lines.set(colour, y * (size * 3 + 1) + 1 + x * 3)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // 8 bits for each of red, green and blue.
  header.set([8, 2], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, checksum])
}
