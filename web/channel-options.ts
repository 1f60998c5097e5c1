/** The channels by slot, as options of a form field or a filter. */

import { useMemo, useSyncExternalStore } from 'react'
import { useServices } from './context.ts'
import { t } from './i18n.ts'

export function useChannelOptions(): readonly { readonly value: string; readonly text: string }[] {
  const { store } = useServices()
  const cards = useSyncExternalStore(store.subscribe, store.cards)
  return useMemo(
    () =>
      cards.map(({ channelId, slot, name }) => ({
        value: String(channelId),
        text: t('alerts.channelOption', { slot, name: name ?? t('card.noName') }),
      })),
    [cards],
  )
}
