/** Kept sound, for users who may listen. */

import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import type { ClipBody } from '../../src/contract/clips.ts'
import { useServices } from '../app/context.ts'
import { formatUnit } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { toIso } from '../app/service-time.ts'
import { useMayListen } from '../app/session.ts'

const refreshMs = 10_000

interface Clips {
  /** Newest first; null for users who may not listen, and where no sound is kept. */
  readonly clips: readonly ClipBody[] | null
  reload(): Promise<unknown>
}

/** Reads the clips of a time, in epoch milliseconds, every ten seconds, because no message announces them. */
export function useClips(from: number, to: number): Clips {
  const { api } = useServices()
  const mayListen = useMayListen()
  const { data = null, refetch } = useQuery({
    queryKey: ['clips', from, to],
    queryFn: mayListen
      ? async () => {
          const response = await api.read(
            `/api/audio/clips/?${new URLSearchParams({ from: toIso(from), to: toIso(to) })}`,
            'list',
          )
          return response.ok ? response.body : null
        }
      : skipToken,
    refetchInterval: ({ state }) => (state.data === null ? false : refreshMs),
    placeholderData: keepPreviousData,
  })
  return { clips: data, reload: refetch }
}

/** "25 s · Hum, clicks" */
export function clipDetail({ from, to, faults }: ClipBody): string {
  return [clipLength({ from, to }), faultsText(faults)].filter(Boolean).join(' · ')
}

export function clipLength({ from, to }: Pick<ClipBody, 'from' | 'to'>): string {
  return formatUnit('second', Math.round((Date.parse(to) - Date.parse(from)) / 1_000))
}

export function faultsText(faults: ClipBody['faults']): string {
  return faults.map((fault) => t(`clips.faults.${fault}`)).join(', ')
}
