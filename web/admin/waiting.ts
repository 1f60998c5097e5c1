/** What waits for a person, of all that the administration looks after. */

import type { StoreHealth } from '../../src/model/health.ts'
import { type PageName, pathOf } from '../../src/model/pages.ts'
import { type Health, isObject, isPage, type Problem } from '../api.ts'
import { useReading } from '../reading.ts'
import { listErrors } from '../source-errors.ts'
import { words } from '../words.ts'

const texts = words.shell.overview
/** Five lists at once: a page left open must not use up what a client may ask. */
const everyMs = 10_000

export interface Waiting {
  readonly key: string
  readonly text: string
  /** What is known of it besides. */
  readonly says?: string | null
  /** Below the mount; with the filter that shows it. */
  readonly path: string
}

interface AllWaiting {
  /** Null until something is known. */
  readonly items: readonly Waiting[] | null
  readonly store: StoreHealth | null
  readonly problem: Problem | null
  reload(): Promise<void>
}

export function useWaiting(): AllWaiting {
  const queue = useCount('/api/discovery/pending/?')
  const movements = useCount('/api/movements/unacknowledged/?')
  const failing = useCount('/api/admin/realtime-connections/?status=error&')
  const lost = useCount('/api/admin/realtime-connections/?status=disconnected&')
  const health = useReading('/api/health/', isObject<Health & { readonly store?: StoreHealth }>, everyMs)
  const readings = [queue, movements, failing, lost, health]
  const isKnown = readings.every(({ body }) => body !== null)
  return {
    items: isKnown
      ? [
          ...ofCount('queue', queue.body?.count, texts.queue, 'queue'),
          ...ofCount('movements', movements.body?.count, texts.movements, 'movements'),
          ...ofManufacturers(health.body),
          ...ofCount('error', failing.body?.count, texts.connections.error, 'connections', '?status=error'),
          ...ofCount(
            'disconnected',
            lost.body?.count,
            texts.connections.disconnected,
            'connections',
            '?status=disconnected',
          ),
        ]
      : null,
    store: health.body?.store ?? null,
    problem: readings.find(({ problem }) => problem !== null)?.problem ?? null,
    async reload() {
      await Promise.all(readings.map(({ reload }) => reload()))
    },
  }
}

function useCount(path: string) {
  return useReading(`${path}page_size=1`, isPage<unknown>, everyMs)
}

function ofCount(
  key: string,
  count: number | undefined,
  text: (count: number) => string,
  page: PageName,
  search = '',
): readonly Waiting[] {
  return count === undefined || count === 0 ? [] : [{ key, text: text(count), path: pathOf(page) + search }]
}

function ofManufacturers(health: Health | null): readonly Waiting[] {
  if (health === null) return []
  const path = pathOf('manufacturers')
  if (health.manufacturers.length === 0) return [{ key: 'none', text: texts.noManufacturer, path }]
  return health.manufacturers
    .filter(({ status }) => status !== 'healthy' && status !== 'disabled')
    .map((one) => ({
      key: `manufacturer ${one.code}`,
      text: texts.manufacturer(one.code, words.health.statuses[one.status]),
      says: listErrors(one).join('; ') || null,
      path: `${path}?manufacturer=${one.code}`,
    }))
}
