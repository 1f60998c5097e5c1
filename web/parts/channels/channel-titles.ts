import { useMemo, useSyncExternalStore } from 'react'
import { useServices } from '../../app/context.ts'
import { memoize } from '../../app/memoize.ts'
import { slotTitle } from '../../app/slot-records.ts'

/** For example `7 Nora, 12 Ida`, for ids that are separated by commas; `#7` for a channel that is unknown. */
export function useChannelTitles(ids: string): string {
  const { watch } = useServices()
  const read = useMemo(
    () =>
      memoize(
        () => [watch.cards()],
        ([cards]) =>
          ids
            .split(',')
            .map((id) => {
              const card = cards.find(({ channelId }) => String(channelId) === id)
              return card === undefined ? `#${id}` : slotTitle(card)
            })
            .join(', '),
      ),
    [watch, ids],
  )
  return useSyncExternalStore(watch.subscribe, read)
}
