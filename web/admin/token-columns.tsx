/** Columns of the token list. */

import type { TokenBody } from '../../src/contract/resources/accounts.ts'
import { formatDate, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { serviceNow } from '../app/service-time.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import type { TokenQuestion } from './token-dialogs.tsx'

interface ColumnOptions {
  /** Returns the name of the user who created the token. */
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
      cell: ({ role }) => t(`shell.roles.${role}`),
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
