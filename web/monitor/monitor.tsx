import { useCallback, useMemo, useRef, useState } from 'react'
import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useMay, useSession } from '../app/session.ts'
import { useView } from '../app/use-view.ts'
import type { View } from '../app/view.ts'
import { type CardActions, ChannelCard, type ChannelCardProps } from '../parts/card/channel-card.tsx'
import { Phase } from '../parts/card/phase.tsx'
import { PlaceholderCard, PlannedCard, Spacer } from '../parts/card/placeholder-card.tsx'
import { PrintTable, useIsPrinting } from '../parts/channels/print-table.tsx'
import { ShowMore, useFirstPart } from '../parts/channels/show-more.tsx'
import { decodeSlots, type VisibleSlot } from '../parts/channels/visible-slots.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { onDemand } from '../parts/dialogs/on-demand.tsx'
import { MeterLayer } from '../parts/meters/meters.tsx'
import { SlotDialog, SwapDialog } from '../parts/slots/dialogs.ts'
import { useCommands } from '../parts/toolbar/tools.tsx'
import { countInView } from '../parts/use-near.ts'
import { useRegion } from '../parts/use-region.ts'
import { StartOffer } from '../shows/start-offer.tsx'
import { ChannelTable } from './channel-table.tsx'
import { Toolbar } from './toolbar.tsx'

const Arrange = onDemand(async () => {
  const { Arrange: Loaded } = await import('./arrange.tsx')
  return ({ view, change, onClose }: Pick<ChannelsProps, 'view' | 'change'> & { onClose(): void }) => (
    <Loaded {...{ view, change }} onDone={onClose} />
  )
})

export function Monitor() {
  usePageTitle(null)
  const [view, change] = useView('monitor')
  const [isArranging, setArranging] = useState(false)
  const showMessage = useShowMessage()
  const session = useSession()
  const mayOperate = useMay('operate')
  const onArrange = () => {
    if (mayOperate) setArranging(!isArranging)
    else
      showMessage({
        text: t('arrange.notAllowed', { role: t(`shell.roles.${session?.role ?? 'viewer'}`) }),
        tone: 'alarm',
      })
  }
  const searchField = useRef<HTMLInputElement>(null)
  const search = () => searchField.current?.focus()
  const { commands, dialog } = useCommands({ page: 'monitor', view, change, search, onArrange })
  return (
    <>
      {isArranging || view.kiosk === '1' ? null : <Toolbar {...{ view, change, commands, searchField }} />}
      <main className="content" id="content" tabIndex={-1}>
        <h1 className="visually-hidden">{t('nav.dashboard')}</h1>
        {isArranging ? (
          <Arrange {...{ view, change }} onClose={() => setArranging(false)} />
        ) : (
          <Phase view={view}>
            {(entries) => (
              <>
                {mayOperate ? <StartOffer /> : null}
                <Channels {...{ view, change, entries }} />
              </>
            )}
          </Phase>
        )}
      </main>
      {dialog}
    </>
  )
}

interface ChannelsProps {
  readonly view: View
  readonly entries: string
  change(view: Partial<View>): void
}

function Channels({ view, entries: text, change }: ChannelsProps) {
  const all = useMemo(() => decodeSlots(text), [text])
  const { manufacturer, site, group, q, state, sort } = view
  const list = JSON.stringify([manufacturer, site, group, q, state, sort])
  const { shown: entries, hidden, showMore } = useFirstPart(all, list)
  const isHidden = useWatchState(
    (watchState) => watchState.groups.find((group) => group.id === view.group)?.hide_charts === true,
  )
  const hasChart = view.charts === 'on' && !isHidden && view.detail !== 'status'
  const density = densityOf(all.length, view)
  const { actions, dialog } = useCardActions()
  const isPrinting = useIsPrinting()
  const region = useRegion<HTMLDivElement>()
  // An alert takes room from the chart of its card.
  const alerts = useWatchState(({ alerts }) => alerts.map(({ id, state }) => `${id}${state}`).join())
  const order = `${text} ${hidden} ${view.layout} ${view.columns} ${hasChart} ${density} ${alerts}`
  if (isPrinting) return <PrintTable entries={all} view={view} />
  return (
    <div className="meter-field" ref={region}>
      {view.layout === 'list' ? (
        <ChannelTable {...{ entries, view, change, actions }} count={all.length} />
      ) : (
        <ul className="cards" data-density={density} aria-label={t('card.list')}>
          <ChannelCards
            entries={entries}
            step={view.detail === 'status' ? 'status' : density === 'roomy' ? 'full' : 'usual'}
            hasChart={hasChart}
            actions={actions}
          />
        </ul>
      )}
      <ShowMore hidden={hidden} onShow={showMore} />
      <MeterLayer order={order} />
      {dialog}
    </div>
  )
}

function useCardActions() {
  const mayOperate = useMay('operate')
  const [opened, setOpened] = useState<{ readonly slot: number; readonly dialog: 'assign' | 'swap' } | null>(null)
  const close = useCallback(() => setOpened(null), [])
  const actions: CardActions = useMemo(
    () => ({
      mayOperate,
      assign: (slot) => setOpened({ slot, dialog: 'assign' }),
      swap: (slot) => setOpened({ slot, dialog: 'swap' }),
    }),
    [mayOperate],
  )
  const SlotAction = opened?.dialog === 'swap' ? SwapDialog : SlotDialog
  return { actions, dialog: opened === null ? null : <SlotAction slot={opened.slot} onClose={close} /> }
}

function densityOf(count: number, { detail }: View): 'roomy' | 'dense' {
  if (detail === 'full') return 'roomy'
  return count <= 16 && detail === 'auto' ? 'roomy' : 'dense'
}

/** At most the smallest size of a card, in CSS pixels. */
const cardSize = { width: 198, height: 170 }

interface ChannelCardsProps extends Omit<ChannelCardProps, 'receiverId' | 'channelId' | 'isFirst'> {
  readonly entries: readonly VisibleSlot[]
}

function ChannelCards({ entries, ...card }: ChannelCardsProps) {
  const [inView] = useState(() => countInView(cardSize))
  return entries.map((entry, index) => {
    const { actions } = card
    if (entry.kind === 'planned') return <PlannedCard key={entry.slot} slot={entry.slot} actions={actions} />
    if (entry.kind === 'placeholder') {
      return <PlaceholderCard key={entry.slot} id={entry.placeholderId} actions={actions} />
    }
    if (entry.kind === 'spacer') return <Spacer key={entry.slot} />
    const { receiverId, channelId } = entry
    return <ChannelCard key={channelId} {...{ receiverId, channelId }} isFirst={index < inView} {...card} />
  })
}
