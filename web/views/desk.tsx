/** The desk: every channel as a card or as a line, dense, sortable, with filters that live in the address. */

import { useMemo, useRef, useState } from 'react'
import { useHouse } from '../context.ts'
import { t } from '../i18n.ts'
import { Arrange } from '../parts/arrange.tsx'
import { ChannelCard } from '../parts/channel-card.tsx'
import { ChannelTable } from '../parts/channel-table.tsx'
import { PlannedCard, Spacer } from '../parts/empty-place.tsx'
import { HealthFooter } from '../parts/health-footer.tsx'
import { Messages, useSay } from '../parts/messages.tsx'
import { MeterLayer } from '../parts/meters.tsx'
import { Phase } from '../parts/phase.tsx'
import { Summary } from '../parts/summary.tsx'
import { Toolbar } from '../parts/toolbar.tsx'
import { useCommands } from '../parts/tools.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { decodePlaces } from '../places.ts'
import { useMay, useSession } from '../session.ts'
import { useView } from '../use-view.ts'
import type { View } from '../view.ts'

export function Desk() {
  return (
    <Messages>
      <Page />
    </Messages>
  )
}

function Page() {
  const [view, change] = useView('desk')
  const [isArranging, setArranging] = useState(false)
  const say = useSay()
  const session = useSession()
  const mayOperate = useMay('operate')
  const onArrange = () => {
    if (mayOperate) setArranging(!isArranging)
    else say({ text: t('arrange.notAllowed', { role: session?.role ?? '' }), tone: 'alarm' })
  }
  const searchField = useRef<HTMLInputElement>(null)
  const search = () => searchField.current?.focus()
  const { commands, dialog } = useCommands({ page: 'desk', view, change, search, onArrange })
  return (
    <>
      <TopBar current="dashboard">
        <Summary />
      </TopBar>
      {isArranging ? null : <Toolbar {...{ view, change, commands, searchField }} />}
      <main className="content">
        <h1 className="for-listeners">{t('nav.dashboard')}</h1>
        {isArranging ? (
          <Arrange {...{ view, change }} onDone={() => setArranging(false)} />
        ) : (
          <Phase view={view}>{(places) => <Channels {...{ view, change, places }} />}</Phase>
        )}
      </main>
      <HealthFooter />
      {dialog}
    </>
  )
}

interface ChannelsProps {
  readonly view: View
  readonly places: string
  change(view: Partial<View>): void
}

function Channels({ view, places: text, change }: ChannelsProps) {
  const places = useMemo(() => decodePlaces(text), [text])
  const isHidden = useHouse((house) => house.groups.find((one) => one.id === view.group)?.hide_charts === true)
  const hasChart = view.charts === 'on' && !isHidden && view.detail !== 'status'
  const density = densityOf(places.length, view)
  const order = `${text} ${view.layout} ${hasChart} ${density}`
  return (
    <div className="meter-field">
      {view.layout === 'list' ? (
        <ChannelTable {...{ places, change }} sort={view.sort} />
      ) : (
        <ul className="cards" data-density={density} aria-label={t('card.list')}>
          {places.map((place) =>
            place.kind === 'planned' ? (
              <PlannedCard key={place.slot} slot={place.slot} />
            ) : place.kind === 'spacer' ? (
              <Spacer key={place.slot} />
            ) : (
              <ChannelCard
                key={place.channelId}
                receiverId={place.receiverId}
                channelId={place.channelId}
                step={view.detail === 'status' ? 'status' : 'usual'}
                hasChart={hasChart}
              />
            ),
          )}
        </ul>
      )}
      <MeterLayer order={order} />
    </div>
  )
}

/** Two sizes of card: few may be large. */
function densityOf(count: number, { detail }: View): 'roomy' | 'dense' {
  if (detail === 'full') return 'roomy'
  return count <= 16 && detail === 'auto' ? 'roomy' : 'dense'
}
