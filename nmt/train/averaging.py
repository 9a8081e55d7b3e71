"""At the end of a training its last, or best, checkpoints are averaged."""

from nmt.errors import ModelError
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.train.checkpoints import CheckpointManager
from nmt.train.model_selection import ModelSelection
from nmt.train.progress import Progress


def average(
    model: Transformer,
    checkpoints: CheckpointManager,
    selection: ModelSelection,
    progress: Progress,
) -> None:
    """Average checkpoints, once. The mean is saved as the best if it scores better on dev.

    The model has its own weights again afterwards.
    """
    name = checkpoint.average_name(progress.update)
    members = checkpoints.members_of_average()
    is_done = selection.validator.output(name).exists()
    if len(members) < 2 or not selection.can_measure or is_done:
        return
    own = {key: tensor.clone() for key, tensor in checkpoint.parameters_of(model).items()}
    try:
        mean = checkpoint.average(members)
        checkpoint.put_weights(model, mean, checkpoints.run.checkpoints)
        scores, translations = selection.measure(model, name, progress.update)
    except ModelError as error:
        selection.log.warn(f"{error}; no average is made")
        return
    finally:
        checkpoint.put_weights(model, own, checkpoints.run.checkpoints)
    compared = f"the average of {len(members)} checkpoints is"
    if selection.is_best(scores, progress):
        selection.log.say(f"{compared} better than the best")
        folder = checkpoints.save_average(mean, progress.update, scores)
        checkpoint.mark_best(checkpoints.run, folder)
    else:
        selection.log.say(f"{compared} no better than the best")
    selection.validator.write(name, translations)  # last of all: this file says that it is done
