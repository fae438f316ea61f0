# SPDX-License-Identifier: BSD-3-Clause
# complete.zsh FOLDER LINE: what a real zsh makes of LINE after the Tab key, with the completions of FOLDER.
zmodload zsh/zpty
zpty z zsh -f
zpty -w z "PS1= PS2= RPS1=; unsetopt zle_bracketed_paste prompt_sp; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
# a line that asks is shown by a widget, so that nothing depends on when the terminal shows what
zpty -w z 'say() { zle -I; print "LINE<$BUFFER>" }; zle -N say; bindkey "^X" say; print RE"ADY"'
zpty -r z out '*READY*' || exit 1
zpty -n -w z "$2"$'\t\x18'
zpty -r z out '*LINE<*>*' || exit 1
out=${out##*LINE<}
print -r -- "${out%%>*}"
zpty -d z
