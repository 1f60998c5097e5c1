import { useState } from 'react'
import { formatDate, plainText } from '../../app/format.ts'
import { useResource } from '../../app/resource.ts'
import { Shell } from '../../app/shell.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import '../../parts/tables/records.css'
import type { TokenBody } from '../../../src/contract/access.ts'
import { t } from '../../app/i18n.ts'
import { serviceNow } from '../../app/service-time.ts'
import { Ago } from '../../parts/age.tsx'
import { CreatedToken, type NewToken } from './created-token.tsx'
import { Role } from './people.tsx'
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

interface ColumnOptions {
  makerOf(id: number | null): string
  onAsk(question: TokenQuestion): void
}

export function tokenColumns({ makerOf, onAsk }: ColumnOptions): readonly Column<TokenBody>[] {
  return [
    {
      key: 'name',
      title: t('tokens.columns.name'),
      sortBy: ({ name }) => name,
      cell: ({ name }) => <bdi>{plainText(name)}</bdi>,
    },
    {
      key: 'role',
      title: t('tokens.columns.role'),
      sortBy: ({ role }) => role,
      cell: (token) => <Role of={token} />,
    },
    {
      key: 'expires_at',
      title: t('tokens.columns.expires'),
      sortBy: ({ expires_at }) => expires_at,
      cell: ({ expires_at }) => <End at={expires_at} />,
    },
    {
      key: 'last_used_at',
      title: t('tokens.columns.lastUsed'),
      sortBy: ({ last_used_at }) => last_used_at,
      cell: ({ last_used_at, last_used_address }) => (
        <span>
          <Ago at={last_used_at} />
          {last_used_address === null ? null : ` ${t('tokens.from', { address: last_used_address })}`}
        </span>
      ),
    },
    {
      key: 'created_by',
      title: t('tokens.columns.createdBy'),
      cell: ({ created_by }) => <bdi>{makerOf(created_by)}</bdi>,
    },
    { key: 'actions', title: t('tokens.columns.actions'), cell: (token) => <Actions token={token} onAsk={onAsk} /> },
  ]
}

function End({ at }: { at: string | null }) {
  if (at === null) return t('tokens.never')
  const day = formatDate(at)
  if (Date.parse(at) > serviceNow()) return <time dateTime={at}>{day}</time>
  return (
    <span>
      <time dateTime={at}>{day}</time>{' '}
      <span className="tag" data-tone="bad">
        {t('tokens.expired')}
      </span>
    </span>
  )
}

function Actions({ token, onAsk }: { token: TokenBody } & Pick<ColumnOptions, 'onAsk'>) {
  return (
    <div className="row-actions">
      {(['change', 'revoke'] as const).map((kind) => (
        <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, token })}>
          {t(`tokens.${kind}`)}
          <span className="visually-hidden"> {plainText(token.name)}</span>
        </button>
      ))}
    </div>
  )
}
