#!/usr/bin/env bash
# Install nmt, translate with the model that comes with it, then train a small one on data/toy, translate with that and
# score it: some minutes. The training lies in runs/demo, so that no other folder takes its model for the last trained.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh
PATH="$PWD/.venv/bin:$PATH"

step() {
    printf '\n== %s\n' "$1"
    shift
    printf '   %s\n' "$@"
}

# Each sentence with its translation below it: show MODEL SENTENCE…
show() {
    local model=$1 translations
    shift
    translations=$(printf '%s\n' "$@" | nmt translate --model "$model")
    paste -d '\n' <(printf '%s\n' "$@") - <<<"$translations"
}

step "1. nmt translate" \
    "One line in, one line out, with the model that comes with nmt: everyday sentences and texts of software."
show pretrained "Where is the nearest train station?" "Click Save to apply your changes."
if [[ -t 0 ]]; then
    read -r -p "   An English sentence of your own: " sentence
    if [[ -n "$sentence" ]]; then
        show pretrained "$sentence"
    fi
fi

TOY=runs/demo/toy
mkdir -p runs/demo

train() {
    (cd runs/demo && nmt train --config ../../configs/toy.yaml data.path=../../data/toy run_dir=toy "$@")
}

step "2. nmt train --config configs/toy.yaml" \
    "Cleans data/toy, builds both vocabularies, and trains a Transformer: about a minute on two cores." \
    "The loss falls; that of dev is lower, since it is computed without dropout and label smoothing." \
    "Every 100 updates the model translates three sentences that it is not trained on" \
    "(→ is its translation, = the reference). If $TOY is there already, it continues where it stopped."
train || {
    code=$?
    # 2: trained with another configuration; 5: its checkpoints do not fit. Nothing else is fixed by starting anew.
    if ((code != 2 && code != 5)); then
        exit "$code"
    fi
    echo "$TOY does not fit configs/toy.yaml and data/toy as they are now; starting anew"
    train --overwrite
}

step "3. nmt translate --model $TOY" \
    "The new model knows some 900 words and the sentence patterns of data/toy, and nothing else:" \
    "the last sentence is about something else, so its translation is nonsense."
show "$TOY" "I like tea." "My sister has a red bicycle." "She bought three apples yesterday." \
    "Parliament rejected the budget."

step "4. nmt evaluate --model $TOY" \
    "Translates the 200 test sentences; the model was trained on none of them. For BLEU and chrF, 100 is the" \
    "reference itself. The 95 % interval is in brackets; sacreBLEU's signature says how the score was measured." \
    "The scores are this high because data/toy is so simple; on real news, systems reach 25 to 45 BLEU."
nmt evaluate --model "$TOY"

step "Done. Next:" \
    "source .venv/bin/activate           makes the command nmt available, in every folder" \
    "nmt translate                       type English, read Chinese; Ctrl-D ends" \
    "docs/guide/train.md                 train on your own corpora, beginning with configs/tatoeba.yaml"
