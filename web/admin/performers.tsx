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
import { words } from '../words.ts'
import { performerColumns } from './performer-columns.tsx'
import { PerformerDialog, type PerformerQuestion } from './performer-dialogs.tsx'
import { type Cast, setActive, unitName, useCast, type Wearing } from './wearing.ts'

const texts = words.performers

export function Performers() {
  const reading = useCast()
  const [asked, setAsked] = useState<PerformerQuestion | null>(null)
  return (
    <Shell page="performers" title={texts.title} intro={texts.intro}>
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
            {texts[kind]}
          </button>
        ))}
        {mayOperate ? null : <span className="hint">{words.shell.takes(words.shell.roles.operator)}</span>}
      </div>
      {cast.performers.length === 0 ? (
        <Empty title={texts.none}>
          <p>{texts.noneNext}</p>
        </Empty>
      ) : (
        <DataTable
          caption={texts.list}
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
    await change(false, texts.ended(name, unit), () => change(true, texts.again(name, unit)))
  }
}
