/** Access for scripts, and for screens on the wall. */

import { useState } from 'react'
import type { TokenBody, UserBody } from '../../src/model/people.ts'
import { isList } from '../api.ts'
import { plainText } from '../format.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Shell } from '../parts/shell.tsx'
import { useReading } from '../reading.ts'
import '../styles/records.css'
import { t } from '../i18n.ts'
import { type Made, MadeToken } from './made-token.tsx'
import { tokenColumns } from './token-columns.tsx'
import { TokenDialog, type TokenQuestion } from './token-dialogs.tsx'

const everyMs = 10_000

export function Tokens() {
  const reading = useReading('/api/admin/tokens/', isList<TokenBody>, everyMs)
  const users = useReading('/api/admin/users/', isList<UserBody>).body
  const [asked, setAsked] = useState<TokenQuestion | null>(null)
  const [made, setMade] = useState<Made | null>(null)
  const makerOf = (id: number | null) => {
    if (id === null) return t('tokens.commandLine')
    return plainText(users?.find((one) => one.id === id)?.username ?? t('tokens.deletedUser'))
  }
  return (
    <Shell page="tokens" title={t('tokens.title')} intro={t('tokens.intro')}>
      {made === null ? null : <MadeToken made={made} onKept={() => setMade(null)} />}
      <Loaded reading={reading}>
        {(tokens) => (
          <>
            <div className="list-actions">
              {(['create', 'kiosk'] as const).map((kind) => (
                <button
                  key={kind}
                  type="button"
                  className="choice"
                  data-tone="usual"
                  onClick={() => setAsked({ kind })}
                >
                  {t(`tokens.${kind}`)}
                </button>
              ))}
            </div>
            {tokens.length === 0 ? (
              <Empty title={t('tokens.none')}>
                <p>{t('tokens.noneNext')}</p>
              </Empty>
            ) : (
              <DataTable
                caption={t('tokens.list')}
                columns={tokenColumns({ makerOf: users === null ? () => '' : makerOf, onAsk: setAsked })}
                rows={tokens}
                idOf={({ id }) => id}
              />
            )}
          </>
        )}
      </Loaded>
      {asked === null ? null : (
        <TokenDialog question={asked} onMade={setMade} onDone={reading.reload} onClose={() => setAsked(null)} />
      )}
    </Shell>
  )
}
