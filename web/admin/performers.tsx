/** Who wears what. */

import { useState } from 'react'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useSay } from '../parts/messages.tsx'
import { Shell } from '../parts/shell.tsx'
import { useSending } from '../reading.ts'
import { useMay } from '../session.ts'
import '../styles/records.css'
import { t } from '../i18n.ts'
import { performerColumns } from './performer-columns.tsx'
import { PerformerDialog, type PerformerQuestion } from './performer-dialogs.tsx'
import { type Cast, setActive, unitName, useCast, type Wearing } from './wearing.ts'

export function Performers() {
  const reading = useCast()
  const [asked, setAsked] = useState<PerformerQuestion | null>(null)
  return (
    <Shell page="performers" title={t('performers.title')} intro={t('performers.intro')}>
      <Loaded reading={reading}>
        {(cast) => (
          <>
            <List cast={cast} onAsk={setAsked} reload={reading.reload} />
            {asked === null ? null : (
              <PerformerDialog question={asked} cast={cast} onDone={reading.reload} onClose={() => setAsked(null)} />
            )}
          </>
        )}
      </Loaded>
    </Shell>
  )
}

interface ListProps {
  readonly cast: Cast
  onAsk(question: PerformerQuestion): void
  reload(): Promise<void>
}

function List({ cast, onAsk, reload }: ListProps) {
  const mayOperate = useMay('operate')
  const onEnd = useEnd(cast, reload)
  return (
    <>
      <div className="list-actions">
        {(['add', 'addMany'] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            className="choice"
            data-tone={kind === 'add' ? 'usual' : undefined}
            disabled={!mayOperate}
            onClick={() => onAsk({ kind })}
          >
            {t(`performers.${kind}`)}
          </button>
        ))}
        {mayOperate ? null : <span className="hint">{t('shell.requires.operator')}</span>}
      </div>
      {cast.performers.length === 0 ? (
        <Empty title={t('performers.none')}>
          <p>{t('performers.noneNext')}</p>
        </Empty>
      ) : (
        <DataTable
          caption={t('performers.list')}
          columns={performerColumns(cast, mayOperate ? { onAsk, onEnd } : null)}
          rows={cast.performers}
          idOf={({ id }) => id}
        />
      )}
    </>
  )
}

/** Quickly done, and quickly undone: nobody is asked first. */
function useEnd({ performers, units }: Cast, reload: () => Promise<void>) {
  const { api } = useSurroundings()
  const say = useSay()
  const { send } = useSending()
  return async (wearing: Wearing) => {
    const name = plainText(performers.find(({ id }) => id === wearing.performer)?.name ?? '')
    const unit = unitName(units, wearing.wireless_unit)
    const change = async (isActive: boolean, text: string, undo?: () => Promise<void>) => {
      const answer = await send(() => setActive(api, wearing, isActive))
      if (answer === null) return
      say(answer.ok ? { text, undo } : { text: answer.problem.detail, tone: 'alarm' })
      await reload()
    }
    await change(false, t('performers.unassigned', { name, unit }), () =>
      change(true, t('performers.reassigned', { name, unit })),
    )
  }
}
