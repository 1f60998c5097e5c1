import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import { t } from '../../app/i18n.ts'
import { useFieldProblem } from './form.tsx'

interface Described {
  /** Error responses with this name are shown at the field. */
  readonly name: string
  readonly label: string
  readonly hint?: ReactNode
}

type InputProps = Described & Omit<ComponentProps<'input'>, keyof Described>

export function Field({ name, label, hint, ...input }: InputProps) {
  const { ids, problem, described } = useDescribed({ name, hint })
  return (
    <Frame {...{ ids, label, hint, problem }} isOptional={input.required === false}>
      <input className="input" type="text" {...input} {...described} name={name} />
    </Frame>
  )
}

export function PasswordField({ name, label, hint, ...input }: InputProps) {
  const { ids, problem, described } = useDescribed({ name, hint })
  const [isShown, setShown] = useState(false)
  return (
    <Frame {...{ ids, label, hint, problem }} isOptional={input.required === false}>
      <span className="input-row">
        <input className="input" {...input} {...described} name={name} type={isShown ? 'text' : 'password'} />
        <button type="button" className="choice" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {t('parts.form.showPassword')}
          <span className="visually-hidden"> {label}</span>
        </button>
      </span>
    </Frame>
  )
}

type SecretProps = InputProps & {
  /** `********` stands for the stored value. */
  readonly stored: string
  /** The stored value may not be sent to the new address. */
  readonly isMoved: boolean
}

/**
 * `********` stands for the kept value. It is selected on focus, because partly edited asterisks would be stored as
 * the secret.
 */
export function SecretField({ stored, isMoved, hint, required, ...input }: SecretProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const isLost = isMoved && stored !== ''
  return (
    <PasswordField
      {...input}
      hint={isLost ? t('parts.form.enterAgain') : hint}
      required={isLost || required}
      value={typed ?? (isLost ? '' : stored)}
      autoComplete="new-password"
      onChange={({ target }) => setTyped(target.value)}
      onFocus={({ target }) => target.select()}
    />
  )
}

type SelectProps = Described & {
  readonly options: readonly { readonly value: string; readonly text: string }[]
} & Omit<ComponentProps<'select'>, keyof Described | 'children'>

export function SelectField({ name, label, hint, options, ...select }: SelectProps) {
  const { ids, problem, described } = useDescribed({ name, hint })
  return (
    <Frame {...{ ids, label, hint, problem }}>
      <select className="input" {...select} {...described} name={name}>
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  )
}

export function TextField({
  name,
  label,
  hint,
  ...area
}: Described & Omit<ComponentProps<'textarea'>, keyof Described>) {
  const { ids, problem, described } = useDescribed({ name, hint })
  return (
    <Frame {...{ ids, label, hint, problem }}>
      <textarea className="input" rows={4} {...area} {...described} name={name} />
    </Frame>
  )
}

/** The value is `on` if it is checked, otherwise absent. */
export function TickField({ name, label, hint, ...input }: InputProps) {
  const { ids, problem, described } = useDescribed({ name, hint })
  return (
    <div className="field">
      <label className="tick">
        <input type="checkbox" {...input} {...described} name={name} />
        <span>{label}</span>
      </label>
      <Hint {...{ ids, hint, problem }} />
    </div>
  )
}

interface Ids {
  readonly field: string
  readonly hint: string
  readonly problem: string
}

function useDescribed({ name, hint }: Pick<Described, 'name' | 'hint'>) {
  const id = useId()
  const problem = useFieldProblem(name)
  const ids: Ids = { field: id, hint: `${id}hint`, problem: `${id}problem` }
  const parts = [...(problem === null ? [] : [ids.problem]), ...(hint === undefined ? [] : [ids.hint])]
  const described = {
    id,
    'aria-invalid': problem !== null || undefined,
    'aria-describedby': parts.length === 0 ? undefined : parts.join(' '),
  }
  return { ids, problem, described }
}

interface FrameProps extends Pick<Described, 'label' | 'hint'> {
  readonly ids: Ids
  readonly problem: string | null
  readonly isOptional?: boolean
  readonly children: ReactNode
}

function Frame({ ids, label, hint, problem, isOptional = false, children }: FrameProps) {
  return (
    <div className="field">
      <label htmlFor={ids.field}>
        {label}
        {isOptional ? <span className="field-optional"> ({t('parts.form.optional')})</span> : null}
      </label>
      {children}
      <Hint {...{ ids, hint, problem }} />
    </div>
  )
}

function Hint({ ids, hint, problem }: Pick<FrameProps, 'ids' | 'hint' | 'problem'>) {
  return (
    <>
      {problem === null ? null : (
        <p className="problem" id={ids.problem} role="alert">
          {problem}
        </p>
      )}
      {hint === undefined ? null : (
        <p className="hint" id={ids.hint}>
          {hint}
        </p>
      )}
    </>
  )
}

export function toLocalInput(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

export function fromLocalInput(text: string): number | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
