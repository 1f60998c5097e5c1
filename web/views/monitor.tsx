/** The monitor: all channels as cards or as a table. The sort order and the filters are kept in the URL. */

import { useMemo, useRef, useState } from 'react'
import { useWatchState } from '../context.ts'
import { t } from '../i18n.ts'
import { Arrange } from '../parts/arrange.tsx'
import { ChannelCards } from '../parts/channel-cards.tsx'
import { ChannelTable } from '../parts/channel-table.tsx'
import { HealthFooter } from '../parts/health-footer.tsx'
import { Messages, useShowMessage } from '../parts/messages.tsx'
import { MeterLayer } from '../parts/meters.tsx'
import { Phase } from '../parts/phase.tsx'
import { Summary } from '../parts/summary.tsx'
import { Toolbar } from '../parts/toolbar.tsx'
import { useCommands } from '../parts/tools.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { useMay, useSession } from '../session.ts'
import { useView } from '../use-view.ts'
import type { View } from '../view.ts'
import { decodeSlots } from '../visible-slots.ts'

export function Monitor() {
  return (
    <Messages>
      <Page />
    </Messages>
  )
}

function Page() {
  const [view, change] = useView('monitor')
  const [isArranging, setArranging] = useState(false)
  const showMessage = useShowMessage()
  const session = useSession()
  const mayOperate = useMay('operate')
  const onArrange = () => {
    if (mayOperate) setArranging(!isArranging)
    else showMessage({ text: t('arrange.notAllowed', { role: session?.role ?? '' }), tone: 'alarm' })
  }
  const searchField = useRef<HTMLInputElement>(null)
  const search = () => searchField.current?.focus()
  const { commands, dialog } = useCommands({ page: 'monitor', view, change, search, onArrange })
  return (
    <>
      <TopBar current="dashboard">
        <Summary />
      </TopBar>
      {isArranging ? null : <Toolbar {...{ view, change, commands, searchField }} />}
      <main className="content">
        <h1 className="visually-hidden">{t('nav.dashboard')}</h1>
        {isArranging ? (
          <Arrange {...{ view, change }} onDone={() => setArranging(false)} />
        ) : (
          <Phase view={view}>{(entries) => <Channels {...{ view, change, entries }} />}</Phase>
        )}
      </main>
      <HealthFooter />
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
  const entries = useMemo(() => decodeSlots(text), [text])
  const isHidden = useWatchState(
    (watchState) => watchState.groups.find((group) => group.id === view.group)?.hide_charts === true,
  )
  const hasChart = view.charts === 'on' && !isHidden && view.detail !== 'status'
  const density = densityOf(entries.length, view)
  const order = `${text} ${view.layout} ${hasChart} ${density}`
  return (
    <div className="meter-field">
      {view.layout === 'list' ? (
        <ChannelTable {...{ entries, change }} sort={view.sort} />
      ) : (
        <ul className="cards" data-density={density} aria-label={t('card.list')}>
          <ChannelCards entries={entries} step={view.detail === 'status' ? 'status' : 'usual'} hasChart={hasChart} />
        </ul>
      )}
      <MeterLayer order={order} />
    </div>
  )
}

/** Returns the density of the cards: they are large if there are only a few. */
function densityOf(count: number, { detail }: View): 'roomy' | 'dense' {
  if (detail === 'full') return 'roomy'
  return count <= 16 && detail === 'auto' ? 'roomy' : 'dense'
}
