/** API tokens for scripts and kiosk screens. */

import { useState } from 'react'
import { plainText } from '../app/format.ts'
import { useResource } from '../app/resource.ts'
import { Shell } from '../app/shell.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import '../parts/records.css'
import { t } from '../app/i18n.ts'
import { CreatedToken, type NewToken } from './created-token.tsx'
import { tokenColumns } from './token-columns.tsx'
import { TokenDialog, type TokenQuestion } from './token-dialogs.tsx'

/** No message announces a change of this list. */
const topics = [] as const

export function Tokens() {
  const resource = useResource('/api/admin/tokens/', 'list', topics)
  const users = useResource('/api/admin/users/', 'list').body
  const [dialog, setDialog] = useState<TokenQuestion | null>(null)
  const [newToken, setNewToken] = useState<NewToken | null>(null)
  const makerOf = (id: number | null) => {
    if (id === null) return t('tokens.commandLine')
    return plainText(users?.find((user) => user.id === id)?.username ?? t('tokens.deletedUser'))
  }
  return (
    <Shell title={t('tokens.title')} intro={t('tokens.intro')}>
      {newToken === null ? null : <CreatedToken newToken={newToken} onDismiss={() => setNewToken(null)} />}
      <Loaded resource={resource}>
        {(tokens) => (
          <>
            <div className="list-actions">
              {(['create', 'kiosk'] as const).map((kind) => (
                <button
                  key={kind}
                  type="button"
                  className="choice"
                  data-tone="usual"
                  onClick={() => setDialog({ kind })}
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
                columns={tokenColumns({ makerOf: users === null ? () => '' : makerOf, onAsk: setDialog })}
                rows={tokens}
                idOf={({ id }) => id}
              />
            )}
          </>
        )}
      </Loaded>
      {dialog === null ? null : (
        <TokenDialog
          question={dialog}
          onCreated={setNewToken}
          onDone={resource.reload}
          onClose={() => setDialog(null)}
        />
      )}
    </Shell>
  )
}
